import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BankSide } from '../runtime/index.ts';
import { blockedRecipient, type Shop } from './demo-shops.ts';

/** What came of the payments, by state or by the code of a refusal. */
export type Tally = Map<string, number>;

export interface Scene {
  address: string;
  bank: Pick<BankSide, 'url'>;
  shops: Shop[];
}

const atOnce = 12;

/**
 * Pays so many codes, each through the API as a shop would, spread over this time, or as fast as it goes. What the bank
 * side makes of them varies: faults of the simulator, each for one code.
 */
export async function payMany(
  scene: Scene,
  { payments, overMs }: { payments: number; overMs: number },
  onProgress: (done: number) => void,
): Promise<Tally> {
  const tally: Tally = new Map();
  const startedAt = performance.now();
  let begun = 0;
  let done = 0;
  const payer = async () => {
    while (begun < payments) {
      const index = begun++;
      const waitMs = startedAt + (overMs * index) / payments - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      const outcome = await payOne(scene, index);
      tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
      onProgress(++done);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, payments) }, payer));
  return tally;
}

async function payOne({ address, bank, shops }: Scene, index: number): Promise<string> {
  const { link, qrcId } = await makeCode(bank, index);
  for (const fault of faultsFor(index))
    await callBank(bank, 'PUT', '/sim/faults', { ...fault, qrc_id: qrcId });
  const shop = shops[index % shops.length]!;
  const request = {
    method: 'POST',
    headers: {
      authorization: `Bearer ${shop.key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ qr_url: link, external_id: `order-${1_000 + index}` }),
  };
  return (await ask(`${address}/v1/payments`, request)) ?? 'processing';
}

/** Whoever would wait longer looks later, as a shop with a queue does; undefined then. */
const patienceMs = 3_000;
const tries = 10;

async function ask(url: string, request: RequestInit): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await fetch(url, { ...request, signal: AbortSignal.timeout(patienceMs) });
      const answer = (await response.json()) as { status?: string; error?: { code: string } };
      if (response.ok) return answer.status;
      const isTemporary = response.status === 429 || response.status === 503;
      if (!isTemporary || attempt === tries) return answer.error?.code ?? `${response.status}`;
    } catch (error) {
      if ((error as Error).name === 'TimeoutError') return undefined;
      throw error;
    }
    await sleep(200 * attempt);
  }
}

const amounts = [
  9_900, 14_900, 25_000, 39_900, 54_500, 89_000, 120_000, 199_000, 349_900, 750_000, 1_490_000,
];

/** A code for a purchase; some of somebody who is blocked. */
async function makeCode(bank: Scene['bank'], index: number): Promise<{ link: string; qrcId: string }> {
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
 * The bank side refuses one in twelve and is slow about some; of one in eighty it gives no final answer for hours, and
 * of another it says nothing that can be understood, so that it stays in review until somebody knows better.
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

async function callBank(
  { url }: Scene['bank'],
  method: string,
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`the simulator answered ${response.status} to ${method} ${path}`);
  return (await response.json()) as Record<string, unknown>;
}
