import { InvalidArgumentError, Option } from 'commander';
import type { Payment } from '../../sdk/src/index.ts';
import { details, table } from './output.ts';
import { callsService, connect, explainErrors, type Remote } from './remote.ts';
import { group, type MakeCommand, type Terminal } from './terminal.ts';

/** What the key's partner has paid in the key's mode, as its own program sees it. */
export const partnerPaymentCommands = (command: MakeCommand<Terminal>) =>
  group('payments', 'list and show the payments of the key', [
    callsService(command('list', 'list payments, newest first', list))
      .addOption(new Option('--status <status>', 'only these').choices(['processing', 'succeeded', 'failed']))
      .option('--external-id <id>', 'only those of this order')
      .option('--limit <count>', 'number of payments', countUpTo(1_000), 20),
    callsService(command('show <payment>', 'show a payment', show)),
  ]);

interface ListOptions extends Remote {
  status?: Payment['status'];
  externalId?: string;
  limit: number;
}

const maxPage = 100;

async function list(_terminal: Terminal, { status, externalId, limit, ...remote }: ListOptions) {
  const payments: Payment[] = [];
  await explainErrors(remote, async () => {
    const page = { limit: Math.min(limit, maxPage), status, external_id: externalId };
    for await (const payment of connect(remote).payments.list(page)) {
      payments.push(payment);
      if (payments.length === limit) return;
    }
  });
  const text = table(payments, payment => ({
    payment: payment.id,
    'created (UTC)': new Date(payment.created_at),
    status: statusOf(payment),
    RUB: payment.amount_rub,
    USDT: payment.amount_usdt,
    external_id: payment.external_id ?? '',
  }));
  return { json: { payments }, text };
}

async function show(_terminal: Terminal, id: string, remote: Remote) {
  const payment = await explainErrors(remote, () => connect(remote).payments.get(id));
  const text = details({
    payment: `${payment.id} (${payment.mode})`,
    status: statusOf(payment),
    amount: `${payment.amount_rub} RUB`,
    debited: `${payment.amount_usdt} USDT at ${payment.rate}`,
    recipient: payment.recipient,
    external_id: payment.external_id,
    'created (UTC)': new Date(payment.created_at),
    'completed (UTC)': payment.settled_at ? new Date(payment.settled_at) : null,
    why: payment.error && `${payment.error.code}: ${payment.error.message}`,
  });
  return { json: payment, text };
}

const statusOf = ({ status, status_detail: detail, error }: Payment) =>
  [status, error?.code ?? detail].filter(Boolean).join(', ');

/** For the parser of an option. */
export const countUpTo = (max: number) => (text: string) => {
  const count = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= max) return count;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
};
