/** Reads of archived payments, with the archive on one server and on two workers of Citus; and payments beside it. */

import { systemClock as clock } from '../src/base/clock.ts';
import { type Id, idFromUuid, newId, uuidFromId } from '../src/base/ids.ts';
import { openPool, type Pool, type Statement } from '../src/db/postgres/index.ts';
import { migrate } from '../src/db/schema/index.ts';
import { openAccounts, openStatement, writeStatement } from '../src/ledger/index.ts';
import { distributeArchive, findPayment, listPayments } from '../src/payments/index.ts';
import { citusArchive } from '../test/citus/archive.ts';
import { addCitus, createPlainDatabase, databaseAt, launchCitus } from '../test/citus/citus.ts';
import { setRate } from '../test/helpers/partners.ts';
import { measurePayments, type Progress, pairs } from './history-payments.ts';
import { median } from './median.ts';
import { closeOnce, newFolder } from './service/cleanup.ts';
import { machine, table } from './table.ts';

const partnerCount = 10;
const months = 12;
const reads = 101;

export async function benchHistory(progress: Progress, { big }: { big: boolean }) {
  if (!citusArchive) throw new Error('There is no Citus for this machine: set CITUS_ARCHIVE.');
  const payments = big ? 10_000_000 : 100_000;
  const ends: (() => Promise<void>)[] = [];
  const folder = newFolder('history');
  const close = closeOnce(async () => {
    for (const end of ends.reverse()) await end();
  });
  try {
    const settings = ['fsync=off', 'shared_buffers=1GB', 'max_wal_size=8GB', 'log_min_messages=fatal'];
    const citus = await launchCitus(folder.dir, { workers: 2, settings, atEnd: end => ends.push(end) });
    const { url: server } = citus.coordinator;
    const open = (connectionString: string) => {
      const pool = openPool({ connectionString });
      pool.on('error', () => {});
      ends.push(async () => void (pool.ended || (await pool.end())));
      return pool;
    };
    const create = async (name: string) => {
      const pool = open(await createPlainDatabase(server, name));
      await migrate(pool);
      await setRate(pool);
      return pool;
    };
    const empty = await create('without_history');
    const filled = await create('local');
    const partners = await fill(filled, payments, progress);
    await filled.end();
    progress('copying them, and moving the copy to the workers …');
    const workers = citus.workers.map(({ url }) => url);
    const copy = await createPlainDatabase(server, 'distributed', 'local');
    await addCitus(copy, workers);
    const distributed = open(copy);
    const local = open(databaseAt(server, 'local'));
    const movedAt = performance.now();
    await distributeArchive(
      { pool: distributed, clock, actor: 'bench' },
      { onProgress: reportMove(progress) },
    );
    const moveSec = (performance.now() - movedAt) / 1_000;
    const partnerId = partners[0]!;
    const times = await measureReads([
      { pool: local, partnerId },
      { pool: distributed, partnerId },
    ]);
    progress('ending what the move has left: vacuum and checkpoints …');
    await local.end();
    await settle(server, copy, workers);
    const rates = await measurePayments(empty, distributed, progress);
    return report({ payments, local: times[0]!, distributed: times[1]!, rates, moveSec });
  } finally {
    await close();
    await folder.remove();
  }
}

/** The servers' own work after a move would be measured as a cost of the history: it ends first, and the other copy goes. */
async function settle(server: string, distributed: string, workers: string[]) {
  await runUnlimited(distributed, [
    'VACUUM payments_archive',
    'VACUUM events_archive',
    'VACUUM entries_archive',
  ]);
  await runUnlimited(server, ['DROP DATABASE local WITH (FORCE)', 'CHECKPOINT']);
  for (const worker of workers) await runUnlimited(worker, ['CHECKPOINT']);
}

async function runUnlimited(connectionString: string, texts: string[]) {
  const pool = openPool({ connectionString }, 1);
  try {
    for (const text of ['SET statement_timeout = 0', ...texts]) {
      const statement: Statement = { text, query_timeout: 3_600_000 };
      await pool.query(statement);
    }
  } finally {
    await pool.end();
  }
}

/** A line for each tenth of a phase. */
function reportMove(progress: Progress) {
  let last = '';
  return (phase: string, done: number, of: number) => {
    const line = `${phase}: ${Math.floor((10 * done) / of) * 10}%`;
    if (line !== last) progress(line);
    last = line;
  };
}

/** Rows of 2025 in the archive, with a consistent ledger: each payment has a hold and a settle of one micro-USDT. */
async function fill(pool: Pool, payments: number, progress: Progress): Promise<Id<'prt'>[]> {
  const perMonth = Math.ceil(payments / partnerCount / months);
  const partners = Array.from({ length: partnerCount }, () => newId('prt', clock));
  for (const partnerId of partners) {
    await pool.query(
      "INSERT INTO partners (id, name, live_approved, created_at, concurrent) VALUES ($1, 'Shop', true, now(), 1000)",
      [uuidFromId(partnerId)],
    );
    await openAccounts(pool, partnerId);
  }
  const client = await pool.connect();
  client.on('error', () => {});
  const insert = (text: string, values: unknown[] = []) => {
    const statement: Statement = { text, values, query_timeout: 3_600_000 };
    return client.query(statement);
  };
  try {
    await insert('SET statement_timeout = 0');
    for (let month = 0; month < months; month++) {
      const first = `2025-${String(month + 1).padStart(2, '0')}-01`;
      await insert('SELECT archive_prepare($1)', [first]);
      progress(`${first}: ${perMonth * partnerCount} payments …`);
      for (const partnerId of partners) {
        const values = [uuidFromId(partnerId), first, perMonth, month * perMonth];
        const made = `
          SELECT n, at, (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0')
                         || '8' || lpad(to_hex(n + $4::bigint), 15, '0'))::uuid AS id
            FROM generate_series(1, $3::int) AS n,
                 LATERAL (SELECT $2::timestamptz + n * (interval '27 days' / $3::int) AS at) AS t`;
        await insert(
          `INSERT INTO payments_archive
             SELECT $1, 'live', id, 'succeeded', NULL, false, id::text, decode(md5(id::text) || md5(id::text), 'hex'), NULL, md5(id::text),
                    'https://qr.nspk.ru/' || md5(id::text) || '?type=02&sum=10000&cur=RUB', md5(id::text), 'Shop ' || n % 1000,
                    10000 + n % 5000, 1, 925000, 1, '{}', 'o' || n, NULL, at, at + interval '1 s' FROM (${made}) AS m`,
          values,
        );
        await insert(
          `INSERT INTO events_archive SELECT $1, 'live', n + $4::bigint, id, at + interval '1 s' FROM (${made}) AS m`,
          values,
        );
        await insert(`INSERT INTO archived_keys SELECT id::text, $1, 'live', id FROM (${made}) AS m`, values);
        await insert(
          `INSERT INTO entries_archive
             SELECT $1, 'live', 2 * (n + $4::bigint) + k, (ARRAY['available', 'held'])[k + 1]::account,
                    (ARRAY['held', 'settled'])[k + 1]::account, 1,
                    CASE k WHEN 0 THEN 1000000000 - (n + $4::bigint) ELSE 0 END, CASE k WHEN 0 THEN 1 ELSE n + $4::bigint END,
                    id, NULL, at + k * interval '1 s'
               FROM (${made}) AS m, generate_series(0, 1) AS k`,
          values,
        );
      }
    }
    for (const partnerId of partners) {
      await insert(
        `INSERT INTO entries_archive
           VALUES ($1, 'live', 1, 'topup', 'available', 1000000000, -1000000000, 1000000000, NULL, 'funding', '2025-01-01')`,
        [uuidFromId(partnerId)],
      );
      await insert(`INSERT INTO archived_references VALUES ('funding', $1, 'live', 1000000000)`, [
        uuidFromId(partnerId),
      ]);
      await insert(
        `UPDATE accounts SET topup = -1000000000, available = 1000000000 - $2::bigint, settled = $2,
                entry_count = 2 * $2 + 1, last_entry_at = '2025-12-31' WHERE partner_id = $1 AND mode = 'live'`,
        [uuidFromId(partnerId), perMonth * months],
      );
    }
    progress('sums and statistics …');
    await insert(
      `INSERT INTO archive_sums (partner_id, mode, month, kind, rows, digest, last_event_id)
         SELECT partner_id, mode, month, kind, rows, digest, CASE kind WHEN 'events' THEN $1::bigint END FROM archive_found()`,
      [perMonth * months],
    );
    for (const kind of ['payments', 'events', 'entries']) await insert(`ANALYZE ${kind}_archive`);
  } finally {
    client.release(true);
  }
  return partners;
}

/** Medians, in milliseconds. */
interface Reads {
  page: number;
  payment: number;
  statement: number;
}

/** One archive after the other for each read, so that other programs of the machine disturb both. */
async function measureReads(archives: { pool: Pool; partnerId: Id<'prt'> }[]): Promise<Reads[]> {
  const readers = await Promise.all(archives.map(({ pool, partnerId }) => readerOf(pool, partnerId)));
  const results = readers.map((): Reads => ({ page: 0, payment: 0, statement: 0 }));
  for (const name of ['page', 'payment', 'statement'] as const) {
    const times = readers.map(() => [] as number[]);
    for (let nth = 0; nth < reads; nth++)
      for (const [index, reader] of readers.entries()) {
        const startedAt = performance.now();
        await reader[name](nth);
        times[index]!.push(performance.now() - startedAt);
      }
    for (const [index, result] of results.entries()) result[name] = median(times[index]!);
  }
  return results;
}

async function readerOf(pool: Pool, partnerId: Id<'prt'>) {
  const account = { partnerId, mode: 'live' } as const;
  const { rows } = await pool.query<{ id: string }>(
    "SELECT id FROM payments_archive WHERE partner_id = $1 AND mode = 'live' ORDER BY md5(id::text) LIMIT $2",
    [uuidFromId(partnerId), reads],
  );
  const ids = rows.map(({ id }) => idFromUuid('pay', id));
  return {
    page: (nth: number) => listPayments(pool, account, { limit: 20, startingAfter: ids[nth] }),
    payment: (nth: number) => findPayment(pool, account, ids[nth]!),
    statement: async (nth: number) => {
      const day = new Date(Date.UTC(2025, nth % months, 2 + (nth % 20)));
      const statement = await openStatement(pool, clock, account, day);
      if (typeof statement !== 'object') throw new Error('there is no statement');
      for await (const _ of writeStatement(pool, statement, 'csv'));
    },
  };
}

function report(result: {
  payments: number;
  local: Reads;
  distributed: Reads;
  rates: { empty: number; full: number; ratio: number };
  moveSec: number;
}) {
  const { payments, local, distributed, rates, moveSec } = result;
  const names = { page: 'page of 20 payments', payment: 'one payment', statement: "one day's statement" };
  const rows = (['page', 'payment', 'statement'] as const).map(read => [
    names[read],
    `${local[read].toFixed(2)} ms`,
    `${distributed[read].toFixed(2)} ms`,
    `${(distributed[read] / local[read]).toFixed(2)} ×`,
  ]);
  const rate = [
    'payments a second, without and with history',
    rates.empty.toFixed(0),
    rates.full.toFixed(0),
    `${rates.ratio.toFixed(3)} × (median of ${pairs} pairs)`,
  ];
  return {
    json: result,
    text: `${machine()}\n${payments} archived payments; moved to two workers in ${moveSec.toFixed(0)} s\n\n${table(['read', 'local', 'on two workers', ''], [...rows, rate])}`,
  };
}
