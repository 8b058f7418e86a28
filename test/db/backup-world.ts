import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { readSettings } from '../../src/base/settings.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { setLimits } from '../../src/partners/index.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { afterFile } from '../helpers/after-file.ts';
import { kopeck } from '../helpers/cli.ts';
import { auditContextOf, createFundedPartner, setRate } from '../helpers/database.ts';
import { newFolder, usedFolder } from '../helpers/folders.ts';
import { openingsOf } from '../helpers/openings.ts';
import { createS3Server } from '../helpers/s3-server.ts';

/** An embedded server that archives its WAL, with one partner that pays. */
export async function createBackupWorld(
  dataDir = usedFolder(),
  backups = join(newFolder(), 'backups'),
  more: Record<string, string> = {},
  archivedFile = (name: string) => join(backups, 'wal', `${name}.gz`),
) {
  // A restore takes two seconds, and many more on a busy machine.
  const env = { DATA_DIR: dataDir, BACKUP_DIR: backups, ...more };
  const database = await openDatabase(readSettings(env), () => {}, 'create');
  afterFile(database.close);
  const { pool } = database;
  await setRate(pool);
  const opening = await openingsOf(pool, systemClock);
  const partnerId = await createFundedPartner(pool, 10n ** 12n);
  await setLimits(auditContextOf(pool), partnerId, { concurrent: 1_000_000 });
  const writer = createPaymentWriter(pool, systemClock);

  async function pay(): Promise<string> {
    const payment = opening(partnerId);
    const { verdict } = await writer.open(payment);
    if (verdict !== 'opened') throw new Error(verdict);
    return payment.paymentId;
  }

  return {
    ...{ dataDir, backups, database, pool, pay },
    run: (...args: string[]) => kopeck(env, ...args),
    json: async (...args: string[]) => {
      const { code, stdout, stderr } = await kopeck(env, ...args, '--json');
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      return JSON.parse(stdout);
    },
    archiveAll: () => archiveAll(pool, archivedFile),
    timeBetween: () => timeBetween(pool),
  };
}

/** The same with its backups in a bucket. */
export async function createS3World() {
  const s3 = await createS3Server();
  const address = 's3://backups/of kopeck/main';
  const fileOf = (path: string) => s3.fileOf(`of kopeck/main/${path}`);
  const world = await createBackupWorld(usedFolder(), address, s3.env, name => fileOf(`wal/${name}.gz`));
  return { s3, address, fileOf, world };
}

/**
 * A time to restore to: after all commits so far, and before the next one. It is the next whole millisecond, since `--at`
 * takes no finer one.
 */
async function timeBetween(pool: Pool): Promise<Date> {
  const { rows } = await pool.query<{ at: Date }>(
    `SELECT date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond' AS at, pg_sleep(0.005)`,
  );
  return rows[0]!.at;
}

/** Ends the current segment and waits until it is in the archive. */
async function archiveAll(pool: Pool, archivedFile: (name: string) => string): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT pg_walfile_name(pg_current_wal_lsn()) AS name FROM (SELECT pg_logical_emit_message(true, $1, $1)) AS written',
    ['end'],
  );
  await pool.query('SELECT pg_switch_wal()');
  const file = archivedFile(rows[0]!.name);
  await vi.waitUntil(() => fs.existsSync(file), { timeout: 60_000 });
  return file;
}

/** Restores into a new folder; `env` and the arguments are those of the command. */
export async function restoreInto(backups: string, env: Record<string, string>, ...args: string[]) {
  const dataDir = join(newFolder(), 'data');
  const result = await kopeck({ DATA_DIR: dataDir, ...env }, 'restore', '--from', backups, ...args);
  return { dataDir, ...result };
}

/** A refused restore is one line and has written nothing. */
export async function restoreRefusal(backups: string, ...args: string[]): Promise<string> {
  const { dataDir, code, stdout, stderr } = await restoreInto(backups, {}, ...args);
  const isWritten = fs.existsSync(dataDir);
  expect({ code, stdout, isWritten }).toEqual({ code: 1, stdout: '', isWritten: false });
  const lines = stderr.split('\n').filter(line => !/ MB (checked|copied)$/.test(line));
  expect(lines).toEqual([expect.any(String), '']);
  return `${lines[0]}\n`;
}

/** Opens a restored database, verifies its ledger and reads its payments and balances. */
export async function inspect(dataDir: string) {
  const database = await openDatabase(readSettings({ DATA_DIR: dataDir }), () => {}, 'refuse');
  try {
    const { rows } = await database.pool.query('SELECT cause FROM incarnations ORDER BY number DESC LIMIT 1');
    const { findings } = await verifyLedger(database.pool);
    return { ...(await readState(database)), findings, newest: rows[0].cause };
  } finally {
    await database.close();
  }
}

export async function readState({ pool }: Pick<Database, 'pool'>) {
  const { rows: payments } = await pool.query<{ id: string }>('SELECT id FROM payments ORDER BY id');
  const { rows: accounts } = await pool.query(
    `SELECT partner_id, mode, topup, treasury, available, held, settled FROM accounts ORDER BY partner_id, mode`,
  );
  return { payments: payments.map(({ id }) => id), accounts };
}

/** A copy of the folder of backups, to damage it. */
export function copyBackups(backups: string): string {
  const copy = join(newFolder(), 'backups');
  fs.cpSync(backups, copy, { recursive: true });
  return copy;
}

export const uuidOf = (id: string) => uuidFromId(id as `pay_${string}`);

/** Payments go on while the backup is made; then one, a moment to restore to, and another. */
export async function payAndBackUp(world: Awaited<ReturnType<typeof createBackupWorld>>) {
  const before: string[] = [];
  for (let nth = 0; nth < 5; nth++) before.push(await world.pay());
  let isBackedUp = false;
  const during: string[] = [];
  const load = (async () => {
    while (!isBackedUp) during.push(await world.pay());
  })();
  const backup = await world.json('backup').finally(() => {
    isBackedUp = true;
  });
  await load;
  const first = await world.pay();
  const between = await world.timeBetween();
  const second = await world.pay();
  const state = await readState(world);
  const lastSegment = await world.archiveAll();
  return { before, during, backup, first, between, second, state, lastSegment };
}
