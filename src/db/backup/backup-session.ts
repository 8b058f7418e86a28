import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { OperatorError } from '../../base/operator-error.ts';
import { parseLsn } from '../backup-store/index.ts';
import type { Pool } from '../postgres/index.ts';

export const guide = 'docs/operations/backup.md';

/** Any number: one backup of a database at a time. */
const backupLock = 718_000_021;
/** A checkpoint of a busy server takes minutes, and so does the end of a backup. */
const timeLimitMs = 3_600_000;

export interface BackupStart {
  dataDirectory: string;
  postgresVersion: string;
  systemIdentifier: string;
  timeline: number;
  segmentBytes: number;
  startedAt: Date;
  startLsn: bigint;
}

export type BackupSession = Awaited<ReturnType<typeof beginBackup>>;

/**
 * Tells the server that its files are about to be copied (the low-level interface of the manual, chapter 25.3.3). From now
 * on it writes whole pages into the WAL, so that pages torn by copying are repaired, and keeps that WAL.
 */
export async function beginBackup(pool: Pool, id: string) {
  const client = await pool.connect();
  client.on('error', () => {});
  /** Ends the session, and with it a backup that was not stopped and the slot that keeps its WAL. */
  const end = () => client.release(true);
  const query = <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    client
      .query<Row>({ text, values, query_timeout: timeLimitMs } as pg.QueryConfig)
      .then(({ rows }) => rows[0]!);
  try {
    await query(`SET statement_timeout = ${timeLimitMs}`);
    const { locked } = await query<{ locked: boolean }>(
      `SELECT pg_try_advisory_lock(${backupLock}) AS locked`,
    );
    if (!locked) throw new OperatorError('Another backup of this database is running: wait until it ends.');
    const { dataDirectory } = await query<{ dataDirectory: string }>(
      `SELECT current_setting('data_directory') AS "dataDirectory"`,
    );
    await assertReadable(dataDirectory);
    await query('SELECT pg_create_physical_replication_slot($1, true, true)', [
      `kopeck_backup_${id.replaceAll('-', '_')}`,
    ]);
    const start = await query<Omit<BackupStart, 'startLsn' | 'dataDirectory'> & { lsn: string }>(
      `SELECT current_setting('server_version') AS "postgresVersion", clock_timestamp() AS "startedAt",
              (SELECT setting::int FROM pg_settings WHERE name = 'wal_segment_size') AS "segmentBytes",
              (SELECT system_identifier::text FROM pg_control_system()) AS "systemIdentifier",
              (SELECT timeline_id FROM pg_control_checkpoint()) AS timeline,
              pg_backup_start($1, true)::text AS lsn`,
      [`kopeck ${id}`],
    );
    await assertFilesOf({ ...start, dataDirectory }, async () => {
      const { lsn } = await query<{ lsn: string }>(
        'SELECT checkpoint_lsn::text AS lsn FROM pg_control_checkpoint()',
      );
      return parseLsn(lsn);
    });
    return {
      start: { ...start, dataDirectory, startLsn: parseLsn(start.lsn) },
      end,
      stop: async () => {
        // The WAL is copied by us, so the backup does not wait for an archive that may not exist.
        const { lsn, label, finishedAt } = await query<{ lsn: string; label: string; finishedAt: Date }>(
          `SELECT lsn::text, labelfile AS label, clock_timestamp() AS "finishedAt" FROM pg_backup_stop(false)`,
        );
        // `label` is for `backup_label`: without it the server would take the copy for a crashed server and lose data.
        return { finishedAt, stopLsn: parseLsn(lsn), label };
      },
    };
  } catch (error) {
    end();
    throw error;
  }
}

const notHere = (dataDirectory: string, why: string) =>
  new OperatorError(
    `The files of the server (${dataDirectory}) ${why}: run kopeck backup on its machine as its user, or use pgBackRest or the backups of your provider (${guide}).`,
  );

async function assertReadable(dataDirectory: string): Promise<void> {
  try {
    await readControl(dataDirectory);
    const tablespaces = await fs.readdir(join(dataDirectory, 'pg_tblspc'));
    if (tablespaces.length === 0) return;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'EACCES', 'EPERM'].includes(code ?? ''))
      throw notHere(dataDirectory, 'cannot be read here');
    throw error;
  }
  throw new OperatorError(
    `The server has tablespaces, which kopeck backup does not copy: use pgBackRest (${guide}).`,
  );
}

const inProduction = 6;
const controlTries = 5;

/**
 * A server elsewhere may name a folder that another server has on this machine. Only the files of the server itself have
 * its last checkpoint, are those of a primary and bear its identifier.
 */
async function assertFilesOf(
  { dataDirectory, systemIdentifier }: Pick<BackupStart, 'dataDirectory' | 'systemIdentifier'>,
  readCheckpoint: () => Promise<bigint>,
): Promise<void> {
  // A checkpoint between the two reads is rare, several in a row are not possible.
  for (let tries = 0; tries < controlTries; tries++) {
    const control = await readControl(dataDirectory);
    const isSame =
      `${control.readBigUInt64LE(0)}` === systemIdentifier && control.readInt32LE(16) === inProduction;
    if (isSame && control.readBigUInt64LE(32) === (await readCheckpoint())) return;
  }
  throw notHere(dataDirectory, 'are here those of another server');
}

/** The server may be writing the file: it is taken only when two reads agree. */
export async function readControl(dataDirectory: string): Promise<Buffer> {
  const path = join(dataDirectory, 'global', 'pg_control');
  let content = await fs.readFile(path);
  for (let tries = 0; tries < controlTries; tries++) {
    const again = await fs.readFile(path);
    if (again.equals(content)) return content;
    content = again;
  }
  throw new Error(`${path} changes with every read`);
}
