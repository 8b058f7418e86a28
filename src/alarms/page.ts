interface About {
  kind: string;
  subject: string;
  detail: string;
}

/** Pages of subjects that are no payment, partner or deposit, by how their names begin. */
const pages: [begins: string, path: string][] = [
  ['ledger', '/ledger'],
  ['rate', '/rates'],
  ['refunds', '/reconciliation'],
  ['reconciliation', '/reconciliation'],
  ['deposits ', '/deposits'],
];

/** Where in the console one can look at what the alarm is about; null if no page shows it. `partnerId` is that of an endpoint. */
export function pageOfAlarm(
  { kind, subject, detail }: About,
  partnerId: string | null | undefined,
): string | null {
  // An order without a payment, and what differs from the list of orders.
  if (kind === 'stray_order') return '/reconciliation';
  if (subject.startsWith('pay_')) return `/payments/${subject}`;
  if (partnerId) return `/partners/${partnerId}/webhook`;
  if (subject.startsWith('prt_'))
    return kind.startsWith('webhook') ? `/partners/${subject}/webhook` : `/partners/${subject}`;
  if (subject.startsWith('dep_')) return `/deposits?q=${subject}`;
  if (kind.startsWith('deposit_')) return '/deposits';
  if (kind.startsWith('rate_')) return '/rates';
  // A refund has the id of the gateway; what is wrong with it names its payment.
  const payment = kind.startsWith('refund') ? /pay_[0-9a-z]{26}/.exec(detail)?.[0] : undefined;
  if (payment) return `/payments/${payment}`;
  return pages.find(([begins]) => subject.startsWith(begins))?.[1] ?? null;
}
