import type { Mode, PaymentRow, PaymentStatus } from '../../../src/web/shapes.ts';
import { State, TestMark } from './badge.tsx';
import { type Column, useLive } from './page.tsx';
import { Middle, Name, Rub, ShortId, Time, Usdt } from './values.tsx';

type PaymentState = PaymentStatus | 'manual_review';

export const stateOf = ({
  status,
  status_detail,
}: Pick<PaymentRow, 'status' | 'status_detail'>): PaymentState =>
  status === 'processing' && status_detail === 'manual_review' ? 'manual_review' : status;

interface Totals {
  totals: { mode?: Mode; state: PaymentState; count: number; rub: string; usdt: string }[];
  is_complete: boolean;
}

interface TotalsProps {
  path: string;
  everyMs: number;
  t: { totals: string; totalsCut: string; payments: (count: number) => string };
  /** Whether the amounts in USDT are debited, held or returned; without it they have two decimal places. */
  moved?: Record<PaymentState, string>;
}

/** The sums of all payments that match the filters, not only of those on the page. */
export function PaymentTotals({ path, everyMs, t, moved }: TotalsProps) {
  const { data } = useLive<Totals>(path, everyMs);
  if (!data || data.totals.length === 0) return null;
  return (
    <section className="totals" aria-label={t.totals}>
      <ul>
        {data.totals.map(({ mode, state, count, rub, usdt }) => (
          <li key={`${mode} ${state}`}>
            <State state={state} />
            {mode && <TestMark mode={mode} />}
            <span className="number">{t.payments(count)}</span>
            <Rub amount={rub} />
            <span className="dim">
              {moved && `${moved[state]} `}
              <Usdt amount={usdt} cents={!moved} />
            </span>
          </li>
        ))}
      </ul>
      {!data.is_complete && <p className="dim">{t.totalsCut}</p>}
    </section>
  );
}

type Heads = Record<'payment' | 'created' | 'status' | 'recipient' | 'rub' | 'usdt' | 'externalId', string>;

/** The columns of a list of payments; operators also see whose they are. */
export const paymentColumns = <Row extends PaymentRow>(t: Heads, owner?: Column<Row>): Column<Row>[] => [
  { head: t.payment, cell: row => <ShortId id={row.payment_id} /> },
  { head: t.created, cell: row => <Time at={row.created_at} as="short" /> },
  { head: t.status, cell: row => <State state={stateOf(row)} /> },
  ...(owner ? [owner] : []),
  { head: t.recipient, cell: row => <Name text={row.recipient} /> },
  { head: t.rub, cell: row => <Rub amount={row.amount_rub} bare />, right: true },
  { head: t.usdt, cell: row => <Usdt amount={row.amount_usdt} bare />, right: true, wideOnly: !!owner },
  { head: t.externalId, cell: row => <Middle text={row.external_id} /> },
];
