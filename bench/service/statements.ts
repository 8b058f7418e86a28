import pg from 'pg';
import { idFromUuid } from '../../src/base/ids.ts';
import { lockTimeoutOf } from '../../src/db/lock-wait.ts';
import type { Queryable, Statement } from '../../src/db/pool.ts';
import { createPaymentWriter } from '../../src/payments/index.ts';
import { mode } from './partners.ts';

type Writer = ReturnType<typeof createPaymentWriter>;
type Opening = Parameters<Writer['open']>[0];
type PaymentKey = Pick<Opening, 'partnerId' | 'paymentId'>;

/** A payment as the service opens it for the driver, with a rate that stays fresh during the bench. */
export const opening = (
  paymentKey: PaymentKey,
  names: { key: string; code: string; link: string; rateId: bigint },
  nowMs: number,
): Opening => ({
  ...paymentKey,
  mode,
  idempotencyKey: names.key,
  requestHash: Buffer.alloc(32, 7),
  externalId: null,
  qrcId: names.code,
  qrUrl: names.link,
  fingerprint: 'test',
  recipient: 'Test recipient',
  amountKopecks: 1_000n,
  microUsdt: 109_200n,
  rateE4: 915_750n,
  rateId: names.rateId,
  rateStaleAt: new Date(nowMs + 3_600_000),
  metadata: '{}',
  nextAt: new Date(nowMs + 3_600_000),
  leaseHolder: null,
});

export const ending = (paymentKey: PaymentKey) => ({ ...paymentKey, mode, outcome: 'succeeded' }) as const;

/**
 * The two statements of a payment with their parameters written out; a text that is a key of `expressions` is replaced
 * by the expression. The statements are captured from the service's own code with a fake database, so the baseline
 * always runs the current SQL.
 */
export async function writeStatements(
  sample: { partner: string; payment: string; key: string; code: string; link: string; rateId: bigint },
  openExpressions: Record<string, string>,
  finishExpressions: Record<string, string>,
): Promise<{ open: string; finish: string }> {
  const captured: Statement[] = [];
  const db: Queryable = {
    query: statement => {
      captured.push(statement);
      return Promise.reject(new Error('this database only captures statements'));
    },
  };
  const clock = { nowMs: () => 0, monotonicMs: () => 0, sleep: async () => {} };
  const writer = createPaymentWriter(db, clock);
  const paymentKey = {
    partnerId: idFromUuid('prt', sample.partner),
    paymentId: idFromUuid('pay', sample.payment),
  };
  await writer.open(opening(paymentKey, sample, 0)).catch(() => {});
  await writer.finish(ending(paymentKey)).catch(() => {});
  const [open, finish] = captured as [Statement, Statement];
  return { open: writeOut(open, openExpressions), finish: writeOut(finish, finishExpressions) };
}

function writeOut({ text, values }: Statement, expressions: Record<string, string>): string {
  // The captured statement waits only shortly for a locked account. Here it is not repeated, so it waits as long as usual.
  const patient = values!.map(value => (value === lockTimeoutOf('short') ? lockTimeoutOf('long') : value));
  const one = text.replace(/\$(\d+)/g, (_, number) => write(patient[Number(number) - 1], expressions));
  return one.replace(/\s+/g, ' ').trim();
}

/** Times are relative to zero, where the clock of the sample stands. */
const writeTime = (time: Date) => `(now() + interval '${time.getTime()} ms')`;

function write(value: unknown, expressions: Record<string, string>): string {
  if (value === null) return 'NULL';
  if (value instanceof Date) return writeTime(value);
  if (!Array.isArray(value)) return pg.escapeLiteral(String(value));
  const [item] = value;
  if (item instanceof Date) return `ARRAY[${writeTime(item)}]`;
  if (typeof item === 'string' && item in expressions) return `ARRAY[${expressions[item]}]`;
  // One literal with the type of its parameter, as the driver would send it.
  return pg.escapeLiteral(`{${writeItem(item)}}`);
}

function writeItem(item: unknown): string {
  if (item === null || item === undefined) return 'NULL';
  const text = Buffer.isBuffer(item) ? `\\x${item.toString('hex')}` : String(item);
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
