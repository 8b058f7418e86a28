import { randomInt, randomUUID } from 'node:crypto';
import { systemClock } from '../base/clock.ts';
import { CallTimeoutError, callHttp, type HttpCall } from '../http-client/index.ts';
import type { BankSide } from '../runtime/index.ts';
import { blockedRecipient, type Shop } from './demo-shops.ts';

/** How many payments ended in each state, or with each error code. */
export type Tally = Map<string, number>;

export interface DemoEnvironment {
  address: string;
  bank: Pick<BankSide, 'url'>;
  shops: Shop[];
}

const concurrency = 12;

/**
 * Makes payments through the API as a shop would, spread over `overMs`, or as fast as possible. Simulated failures, each
 * for one QR code, give them different outcomes.
 */
export async function payMany(
  environment: DemoEnvironment,
  { payments, overMs }: { payments: number; overMs: number },
  onProgress: (done: number) => void,
): Promise<Tally> {
  const tally: Tally = new Map();
  const startedAt = systemClock.monotonicMs();
  let begun = 0;
  let done = 0;
  const payer = async () => {
    while (begun < payments) {
      const index = begun++;
      const waitMs = startedAt + (overMs * index) / payments - systemClock.monotonicMs();
      if (waitMs > 0) await systemClock.sleep(waitMs);
      const outcome = await payOne(environment, index);
      tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
      onProgress(++done);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, payments) }, payer));
  return tally;
}

async function payOne({ address, bank, shops }: DemoEnvironment, index: number): Promise<string> {
  const { link, qrcId } = await createQr(bank, index);
  for (const fault of faultsFor(index))
    await callBank(bank, 'PUT', '/sim/faults', { ...fault, qrc_id: qrcId });
  const shop = shops[index % shops.length]!;
  const request = {
    url: `${address}/v1/payments`,
    method: 'POST',
    headers: {
      authorization: `Bearer ${shop.key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ qr_url: link, external_id: `order-${1_000 + index}` }),
  };
  return (await postPayment(request)) ?? 'processing';
}

const maxAttempts = 10;
const maxBytes = 1024 * 1024;
const ofShop = { clock: systemClock, timeoutMs: 3_000, maxBytes };
const ofSimulator = { clock: systemClock, timeoutMs: 10_000, maxBytes };

/** Undefined after a timeout: a real shop would ask for the status later. */
async function postPayment(request: Omit<HttpCall, keyof typeof ofShop>) {
  for (let attempt = 1; ; attempt++) {
    try {
      const { status, body } = await callHttp({ ...request, ...ofShop });
      const answer = JSON.parse(body.toString()) as { status?: string; error?: { code: string } };
      if (status === 200) return answer.status;
      const isTemporary = status === 429 || status === 503;
      if (!isTemporary || attempt === maxAttempts) return answer.error?.code ?? `${status}`;
    } catch (error) {
      if (error instanceof CallTimeoutError) return undefined;
      throw error;
    }
    await systemClock.sleep(200 * attempt);
  }
}

const amounts = [
  9_900, 14_900, 25_000, 39_900, 54_500, 89_000, 120_000, 199_000, 349_900, 750_000, 1_490_000,
];

/** A QR code for a purchase; a few belong to a blocked recipient. */
async function createQr(bank: DemoEnvironment['bank'], index: number) {
  // Small amounts are frequent, large ones rare.
  const amount = amounts[Math.min(randomInt(amounts.length), randomInt(amounts.length))]!;
  const made = await callBank(bank, 'POST', '/sim/qrs', {
    scenario: 'C2B',
    amount_kopecks: amount + randomInt(100) * 10,
    ...(index % 150 === 149 ? { recipient: blockedRecipient } : {}),
  });
  return { link: `${made.link}`, qrcId: `${made.qrc_id}` };
}

const reasons = ['PAYMENT_EXECUTION_REJECTED', 'SUSPECTED_FRAUD', 'QR_EXPIRED', 'LIMIT_EXCEEDED'];
const hoursMs = 6 * 3_600_000;

/**
 * The simulator declines one payment in twelve and delays some. One in eighty gets no final answer for hours, and another
 * only unreadable answers, so that it stays in manual review until an operator decides.
 */
function faultsFor(index: number): object[] {
  const onPay = (fault: object) => [{ on: 'pay', times: 1, ...fault }];
  if (index % 80 === 5) return onPay({ kind: 'finish_later', ms: hoursMs, outcome: 'succeeded' });
  if (index % 80 === 45) return [...onPay({ kind: 'answer_lost' }), { on: 'poll', kind: 'broken_json' }];
  if (index % 12 === 7) return onPay({ kind: 'decline', reason: reasons[randomInt(reasons.length)] });
  if (index % 25 === 3)
    return onPay({ kind: 'finish_later', ms: 2_000 + randomInt(10_000), outcome: 'succeeded' });
  if (index % 3 === 0) return onPay({ kind: 'delay', ms: 20 + Math.round(1_500 * Math.random() ** 6) });
  return [];
}

async function callBank({ url }: DemoEnvironment['bank'], method: string, path: string, body: object) {
  const headers = { 'content-type': 'application/json' };
  const call = { url: `${url}${path}`, method, headers, body: JSON.stringify(body) };
  const answer = await callHttp({ ...call, ...ofSimulator });
  if (answer.status !== 200 && answer.status !== 201)
    throw new Error(`the simulator answered ${answer.status} to ${method} ${path}`);
  return JSON.parse(answer.body.toString()) as Record<string, unknown>;
}
