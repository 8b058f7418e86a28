import pg from 'pg';
import { idFromUuid } from '../../src/base/ids.ts';
import type { Queryable, Statement } from '../../src/db/pool.ts';
import { createPaymentWriter } from '../../src/payments/index.ts';
import { mode } from './partners.ts';

type Writer = ReturnType<typeof createPaymentWriter>;
type Opening = Parameters<Writer['open']>[0];
type Owner = Pick<Opening, 'partnerId' | 'paymentId'>;

/** A payment as the service opens the driver's, at a rate that stays fresh for the length of a bench. */
export const opening = (
  owner: Owner,
  names: { key: string; code: string; link: string; rateId: bigint },
  nowMs: number,
): Opening => ({
  ...owner,
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

export const ending = (owner: Owner) => ({ ...owner, mode, outcome: 'succeeded' }) as const;

/**
 * The two statements of a payment with their parameters written out, where a text that is a key of `expressions` stands
 * for the expression. They come from the code that the service runs, by way of a database that only writes them down: so
 * the baseline cannot fall behind it.
 */
export async function writeStatements(
  sample: { partner: string; payment: string; key: string; code: string; link: string; rateId: bigint },
  openExpressions: Record<string, string>,
  finishExpressions: Record<string, string>,
): Promise<{ open: string; finish: string }> {
  const heard: Statement[] = [];
  const db: Queryable = {
    query: statement => {
      heard.push(statement);
      return Promise.reject(new Error('this database only listens'));
    },
  };
  const clock = { nowMs: () => 0, sleep: async () => {} };
  const writer = createPaymentWriter(db, clock);
  const owner = {
    partnerId: idFromUuid('prt', sample.partner),
    paymentId: idFromUuid('pay', sample.payment),
  };
  await writer.open(opening(owner, sample, 0)).catch(() => {});
  await writer.finish(ending(owner)).catch(() => {});
  const [open, finish] = heard as [Statement, Statement];
  return { open: writeOut(open, openExpressions), finish: writeOut(finish, finishExpressions) };
}

function writeOut({ text, values }: Statement, expressions: Record<string, string>): string {
  const one = text.replace(/\$(\d+)/g, (_, number) => write(values![Number(number) - 1], expressions));
  return one.replace(/\s+/g, ' ').trim();
}

/** Times count from the beginning of time, which is the clock of the sample. */
const writeTime = (time: Date) => `now() + interval '${time.getTime()} ms'`;

function write(value: unknown, expressions: Record<string, string>): string {
  if (value instanceof Date) return writeTime(value);
  if (!Array.isArray(value)) return pg.escapeLiteral(String(value));
  const [item] = value;
  if (item instanceof Date) return `ARRAY[${writeTime(item)}]`;
  if (typeof item === 'string' && item in expressions) return `ARRAY[${expressions[item]}]`;
  // As one literal, whose type is that of the parameter it stands for, as the driver would send it.
  return pg.escapeLiteral(`{${writeItem(item)}}`);
}

function writeItem(item: unknown): string {
  if (item === null || item === undefined) return 'NULL';
  const text = Buffer.isBuffer(item) ? `\\x${item.toString('hex')}` : String(item);
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
