import { randomBytes, randomInt } from 'node:crypto';
import { Argument, Option } from 'commander';
import type { Payment } from '../../sdk/src/index.ts';
import { formatKopecks } from '../base/money.ts';
import { crc16 } from '../base/qr.ts';
import { scenarios } from '../payments/index.ts';
import { details, refuse } from './output.ts';
import { callsService, connect, explainErrors, type Remote } from './remote.ts';
import type { MakeCommand, Terminal } from './terminal.ts';

/** In test mode the kopecks of the amount choose the outcome. */
const kopecksFor = {
  'payment.succeeded': 0,
  'payment.failed': 1,
  'payment.processing': 2,
  'payment.refunded': 0,
};
type Wanted = keyof typeof kopecksFor;

export const triggerCommand = (command: MakeCommand<Terminal>) =>
  callsService(command('trigger', 'create a test payment with the given outcome', trigger))
    .addArgument(new Argument('<event>', 'outcome of the payment').choices(Object.keys(kopecksFor)))
    .addOption(new Option('--scenario <name>', 'failure scenario').choices(Object.keys(scenarios)));

async function trigger(_terminal: Terminal, event: Wanted, options: Remote & { scenario?: string }) {
  if (!options.key.startsWith('svc_test_'))
    refuse('test_key_required', 'This is a live key, which pays real money: use a test key.');
  const kopecks = randomInt(100, 1_000) * 100 + kopecksFor[event];
  // One scenario refuses twice and then accepts, so three retries are enough; another never accepts.
  const kopeck = connect(options, { maxRetries: 3 });
  const payment = await explainErrors(options, () =>
    kopeck.payments.create({
      qr_url: newTestLink(kopecks),
      amount_rub: formatKopecks(BigInt(kopecks)),
      external_id: `trigger-${randomBytes(4).toString('hex')}`,
      ...(options.scenario ? { metadata: { kopeck_scenario: options.scenario } } : {}),
    }),
  );
  if (event !== 'payment.refunded') return { json: payment, text: describe(payment, options) };
  if (payment.status !== 'succeeded')
    refuse('not_paid', `${payment.id} is ${payment.status}: only a payment that succeeded can be refunded.`);
  const refunded = await explainErrors(options, async () => {
    await kopeck.test.refunds.create({ payment_id: payment.id, reference: payment.id });
    return kopeck.payments.get(payment.id);
  });
  return { json: refunded, text: describe(refunded, options) };
}

/** A link for a new QR code, as a cash register would show it. */
function newTestLink(kopecks: number): string {
  const id = `AD10${randomBytes(14).toString('hex').toUpperCase()}`;
  const link = `https://qr.nspk.ru/${id}?type=02&bank=100000000004&sum=${kopecks}&cur=RUB`;
  return `${link}&crc=${crc16(link)}`;
}

function describe(payment: Payment, options: Remote): string {
  const { status, status_detail: detail, error } = payment;
  const shown = details({
    payment: payment.id,
    status: [status, detail ?? error?.code].filter(Boolean).join(', '),
    amount: `${payment.amount_rub} RUB, ${payment.amount_usdt} USDT at ${payment.rate}`,
    external_id: payment.external_id ?? 'none',
    ...(payment.refunded_rub && {
      refunded: `${payment.refunded_rub} RUB, ${payment.refunded_usdt} USDT`,
    }),
  });
  return `${shown}\n${outlook(payment, options)}`;
}

function outlook(payment: Payment, { url }: Remote): string {
  const { status, status_detail: detail, metadata } = payment;
  if (payment.refunded_rub)
    return 'The event payment.succeeded will be sent shortly, and payment.refunded to endpoints that ask for it.';
  if (status !== 'processing') return `The event payment.${status} will be sent shortly.`;
  const isReviewed = detail === 'manual_review';
  const waitSec = isReviewed ? 120 : 30;
  const end = isReviewed && metadata.kopeck_scenario === 'review_fails' ? 'failed' : 'succeeded';
  return [
    `No final status yet: the amount is debited and the outcome is unknown. In ${waitSec} s the status will be ${end} and payment.${end} will be sent.`,
    `To skip the wait: curl -s ${new URL('v1/test/clock', url)} -H "Authorization: Bearer $KOPECK_KEY" -d '{"advance_sec":${waitSec}}'`,
  ].join('\n');
}
