/**
 * The ledger alone: hold and settle of one payment, called one by one over several connections (the baseline), and
 * by many callers through the batcher. Everything on the embedded PostgreSQL with its default durability.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock as clock } from '../src/base/clock.ts';
import { type Id, newId, uuidFromId } from '../src/base/ids.ts';
import { openEmbedded } from '../src/db/embedded/index.ts';
import { openPool, type Pool, type Queryable } from '../src/db/postgres/index.ts';
import { migrate } from '../src/db/schema/index.ts';
import { credit, openAccounts, verifyLedger } from '../src/ledger/index.ts';
import { batchedPost, hold, settle } from '../test/helpers/ledger.ts';
import { machine, table } from './table.ts';

const partnerCount = 1_000;
const callers = 256;
const baselineConnections = [8, 16, 32];
/** After filling, the disk is busy for a while, and the first calls on a connection have to plan. */
const warmUpMs = 4_000;
const measureMs = 6_000;
const mode = 'live';

/** One payment from hold to settle. */
type Pay = (partnerId: Id<'prt'>) => Promise<void>;

export async function benchLedger(progress: (line: string) => void) {
  const parent = join(import.meta.dirname, '.data');
  mkdirSync(parent, { recursive: true });
  const dataDir = mkdtempSync(join(parent, 'ledger-'));
  const server = await openEmbedded(dataDir, progress, 'create');
  const pool = openPool(server.connection, Math.max(...baselineConnections));
  try {
    await migrate(pool);
    return await measureAll(pool, progress);
  } finally {
    await pool.end();
    await server.close();
    rmSync(dataDir, { recursive: true });
  }
}

async function measureAll(pool: Pool, progress: (line: string) => void) {
  const partners = await createPartners(pool);
  const [hot] = partners as [Id<'prt'>];
  const batched = payThrough(batchedPost(pool, clock));

  await fill(pool, partners, 10_000, progress);
  progress(`${callers} callers through the batcher, 10 thousand payments stored …`);
  const atTenThousand = await measure(callers, partners, batched);

  const baseline = await oneByOne(pool, partners, 'one by one', progress);
  const hotBaseline = await oneByOne(pool, [hot], 'one by one, one partner', progress);
  progress(`${callers} callers through the batcher, one partner …`);
  const hotRate = await measure(callers, [hot], batched);

  await fill(pool, partners, 1_000_000, progress);
  progress(`${callers} callers through the batcher, 1 million payments stored …`);
  const atOneMillion = await measure(callers, partners, batched);

  progress('Verifying the ledger …');
  const { findings, entries } = await verifyLedger(pool);
  if (findings.length > 0) throw new Error(`the ledger is broken: ${JSON.stringify(findings)}`);
  const where = `${machine()}, PostgreSQL ${await serverVersion(pool)}`;
  return report(where, entries, [
    ...baselineRows(baseline, 'one by one'),
    {
      what: `batcher, ${callers} callers`,
      pairsPerSecond: atTenThousand,
      ratio: atTenThousand / baseline.best,
      ratioTo: 'the best one by one',
      atLeast: 3,
    },
    ...baselineRows(hotBaseline, 'one partner, one by one'),
    {
      what: `one partner, batcher, ${callers} callers`,
      pairsPerSecond: hotRate,
      ratio: hotRate / hotBaseline.best,
      ratioTo: 'its best one by one',
    },
    {
      what: 'batcher, 1 million payments stored',
      pairsPerSecond: atOneMillion,
      ratio: atOneMillion / atTenThousand,
      ratioTo: 'with 10 thousand stored',
      atLeast: 0.9,
    },
  ]);
}

interface Row {
  what: string;
  pairsPerSecond: number;
  ratio?: number;
  ratioTo?: string;
  atLeast?: number;
}

const baselineRows = ({ rates }: Awaited<ReturnType<typeof oneByOne>>, what: string): Row[] =>
  rates.map(({ connections, rate }) => ({
    what: `${what}, ${connections} connections`,
    pairsPerSecond: rate,
  }));

function report(where: string, entries: bigint, rows: Row[]) {
  const printed = rows.map(({ what, pairsPerSecond, ratio, ratioTo, atLeast }) => [
    what,
    Math.round(pairsPerSecond).toLocaleString('en').replaceAll(',', ' '),
    ratio ? `${ratio.toFixed(2)} × ${ratioTo}` : '',
    atLeast ? `${atLeast.toFixed(1)} ${ratio! >= atLeast ? '✓' : '✗'}` : '',
  ]);
  return {
    json: { machine: where, rows, entries: Number(entries) },
    text: [
      `hold + settle pairs per second; ${where}`,
      table(['what', 'pairs/s', 'ratio', 'at least'], printed),
      `The ledger is consistent afterwards: ${entries} entries.`,
    ].join('\n\n'),
  };
}

const serverVersion = async (pool: Pool) => (await pool.query('SHOW server_version')).rows[0].server_version;

async function createPartners(pool: Pool): Promise<Id<'prt'>[]> {
  const partners = Array.from({ length: partnerCount }, () => newId('prt', clock));
  await pool.query("INSERT INTO partners (id, name, created_at) SELECT unnest($1::uuid[]), 'bench', now()", [
    partners.map(uuidFromId),
  ]);
  for (const partnerId of partners) await openAccounts(pool, partnerId);
  const funding = { mode, reference: 'funding', microUsdt: 10n ** 15n } as const;
  await credit(
    pool,
    clock,
    partners.map(partnerId => ({ partnerId, ...funding })),
  );
  return partners;
}

const payOn =
  (db: Queryable): Pay =>
  async partnerId => {
    const item = { partnerId, mode, paymentId: newId('pay', clock) } as const;
    const [held] = await hold(db, clock, [{ ...item, microUsdt: 1_000_000n }]);
    const [settled] = await settle(db, clock, [item]);
    expectDone(held!, settled!);
  };

const payThrough =
  (post: ReturnType<typeof batchedPost>): Pay =>
  async partnerId => {
    const item = { partnerId, mode, paymentId: newId('pay', clock) } as const;
    const held = await post({ operation: 'hold', ...item, microUsdt: 1_000_000n });
    const settled = await post({ operation: 'settle', ...item });
    expectDone(held, settled);
  };

function expectDone(...postings: { verdict: string }[]): void {
  const verdicts = postings.map(({ verdict }) => verdict);
  if (verdicts.some(verdict => verdict !== 'done')) throw new Error(`a payment was ${verdicts}`);
}

/** Payments per second; each caller starts its next payment when the last one is settled. */
async function measure(concurrency: number, partners: Id<'prt'>[], pay: Pay | Pay[]): Promise<number> {
  let done = 0;
  let running = true;
  const finished = Promise.all(
    Array.from({ length: concurrency }, async (_, caller) => {
      const payHere = Array.isArray(pay) ? pay[caller]! : pay;
      while (running) {
        await payHere(partners[Math.floor(Math.random() * partners.length)]!);
        done += 1;
      }
    }),
  );
  const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));
  await wait(warmUpMs);
  const [startedAt, doneBefore] = [performance.now(), done];
  await wait(measureMs);
  const rate = ((done - doneBefore) * 1000) / (performance.now() - startedAt);
  running = false;
  await finished;
  return rate;
}

async function oneByOne(pool: Pool, partners: Id<'prt'>[], what: string, progress: (line: string) => void) {
  const rates: { connections: number; rate: number }[] = [];
  for (const connections of baselineConnections) {
    progress(`${what}, ${connections} connections …`);
    const clients = await Promise.all(Array.from({ length: connections }, () => pool.connect()));
    rates.push({ connections, rate: await measure(connections, partners, clients.map(payOn)) });
    for (const client of clients) client.release();
  }
  return { rates, best: Math.max(...rates.map(({ rate }) => rate)) };
}

/** Stores settled payments in large batches up to `target`, then vacuums and checkpoints. */
async function fill(
  pool: Pool,
  partners: Id<'prt'>[],
  target: number,
  progress: (line: string) => void,
): Promise<void> {
  const perCall = 1_000;
  const { rows } = await pool.query(
    "SELECT count(*)::int AS stored FROM entries WHERE from_account = 'held'",
  );
  let { stored } = rows[0] as { stored: number };
  let reportedAt = performance.now();
  while (stored < target) {
    const items = partners
      .slice(0, perCall)
      .map(partnerId => ({ partnerId, mode, paymentId: newId('pay', clock) }) as const);
    await hold(
      pool,
      clock,
      items.map(item => ({ ...item, microUsdt: 1_000_000n })),
    );
    await settle(pool, clock, items);
    stored += items.length;
    if (performance.now() - reportedAt > 2_000) {
      reportedAt = performance.now();
      progress(`Storing payments: ${stored} of ${target} …`);
    }
  }
  await pool.query('VACUUM ANALYZE entries, accounts');
  await pool.query('CHECKPOINT');
}
