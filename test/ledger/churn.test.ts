import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Id, newId, uuidFromId } from '../../src/base/ids.ts';
import { readSettings } from '../../src/base/settings.ts';
import { openDatabase } from '../../src/db/database.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { auditContextOf } from '../helpers/database.ts';
import { serverPid } from '../helpers/embedded-postgres.ts';
import { usedFolder } from '../helpers/folders.ts';

/**
 * Random holds, settles, releases and credits from three processes at once on a few accounts, with kill -9 of one of
 * them and of the database in between. Printed with the seed, so that a failure can be played again.
 */
const seed = Number(process.env.CHURN_SEED ?? randomInt(2 ** 31));
const rounds = 2;
const processes = 3;

const dataDir = usedFolder();
const database = await openDatabase(readSettings({ DATA_DIR: dataDir }), () => {}, 'create');
afterAll(() => database.close());

interface Worker {
  child: ChildProcess;
  verdicts: string[];
  gone: Promise<unknown>;
  /** Resolves when it has received this many more verdicts, or has ended. */
  progress(count: number): Promise<void>;
}

function startWorker(args: string[]): Worker {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'churn.process.ts'), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const verdicts: string[] = [];
  const lines = createInterface(child.stdout!);
  lines.on('line', line => verdicts.push(line));
  const gone = new Promise(resolve => lines.once('close', resolve));
  return {
    child,
    verdicts,
    gone,
    progress: count => {
      const target = verdicts.length + count;
      return new Promise(resolve => {
        lines.on('line', () => verdicts.length >= target && resolve());
        lines.once('close', () => resolve());
      });
    },
  };
}

test(`books stay right through kills of processes and of the database (seed ${seed})`, async () => {
  const audit = auditContextOf(database.pool);
  const partners = await Promise.all(Array.from({ length: 5 }, () => createPartner(audit, 'Churn')));
  const { host, port, user, database: name } = database.pool.options as unknown as Record<string, string>;
  const url = `postgresql://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host!)}`;

  for (let round = 0; round < rounds; round++) {
    const payments = Array.from({ length: 400 }, () => newId('pay', systemClock));
    const workers = Array.from({ length: processes }, (_, index) =>
      startWorker([
        `--url=${url}`,
        `--seed=${seed + round * processes + index}`,
        `--partners=${partners.map(({ partnerId }) => partnerId)}`,
        `--payments=${payments}`,
      ]),
    );
    await Promise.all(workers.map(({ progress }) => progress(300)));
    workers[0]!.child.kill('SIGKILL');
    await Promise.all(workers.slice(1).map(({ progress }) => progress(300)));
    process.kill(serverPid(dataDir), 'SIGKILL');
    await Promise.all(workers.slice(1).map(({ progress }) => progress(300)));
    for (const { child } of workers) child.stdin!.end();
    await Promise.all(workers.map(({ gone }) => gone));

    const { findings, entries } = await verifyLedger(database.pool);
    expect(findings).toEqual([]);
    expect(entries).toBeGreaterThan(0n);
    await expectAllVerdictsInBooks(
      workers.flatMap(({ verdicts }) => verdicts),
      payments,
    );
  }
}, 240_000);

/** Every verdict that a process received must be in the ledger, and no two may contradict each other. */
async function expectAllVerdictsInBooks(verdicts: string[], payments: Id<'pay'>[]): Promise<void> {
  const { rows } = await database.pool.query<{ payment: number; to_account: string }>(
    `SELECT p.ordinality::int - 1 AS payment, e.to_account
       FROM unnest($1::uuid[]) WITH ORDINALITY AS p (payment_id) JOIN entries e USING (payment_id)`,
    [payments.map(uuidFromId)],
  );
  const booked = new Set(rows.map(row => `${row.payment} ${row.to_account}`));
  const credits = await database.pool.query<{ reference: string }>(
    "SELECT reference FROM entries WHERE reference LIKE 'credit %'",
  );
  const credited = new Set(credits.rows.map(({ reference }) => reference.slice('credit '.length)));
  const accountOf: Record<string, string> = { held: 'held', settled: 'settled', released: 'available' };
  for (const line of verdicts) {
    const [, payment, outcome] = line.split(' ') as [string, string, string];
    const account = accountOf[outcome.replace('already_', '')];
    if (account) expect(booked, line).toContain(`${payment} ${account}`);
    if (outcome.endsWith('credited')) expect(credited, line).toContain(payment);
  }
  const moves = verdicts.filter(line => Object.hasOwn(accountOf, line.split(' ')[2]!));
  expect(new Set(moves).size, 'a move was reported as new twice').toBe(moves.length);
}
