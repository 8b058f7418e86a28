import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { systemClock as clock } from '../../src/base/clock.ts';
import type { AuditContext } from '../../src/db/audit.ts';
import { openEmbedded } from '../../src/db/embedded/server.ts';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import type { Running } from '../process.ts';
import { closing, newFolder } from './cleanup.ts';
import { greet } from './drive.ts';
import { type ProcessMemory, readMemory } from './memory.ts';
import { createPartners, mode, type PayingPartner } from './partners.ts';
import { startService } from './service.ts';

/** A running service in a folder of its own, and a way past it to its database. */
export interface Stage {
  service: Running;
  connection: pg.ClientConfig;
  pool: Pool;
  audit: AuditContext;
  secretKey: string;
  partners: PayingPartner[];
  /** Of the service before anybody has asked it anything. */
  memoryAtRest: ProcessMemory[];
  /** Also proves the books: a load that left them wrong is no measurement. Returns the number of entries. */
  verify(): Promise<number>;
  close(): Promise<void>;
}

const partnerCount = 1_000;
const comeToRestMs = 2_000;

export async function openStage(name: string, progress: (line: string) => void): Promise<Stage> {
  progress(`Starting the service (${name}) …`);
  const folder = newFolder(name);
  const service = await startService(folder.dir);
  await sleep(comeToRestMs);
  const memoryAtRest = readMemory(service.pid);
  const server = await openEmbedded(folder.dir, () => {});
  const pool = openPool({ ...server.connection, ...patient });
  // The pool ends with the last of its statements, so whoever closes must be done with it.
  const closeDatabase = closing(async () => {
    await pool.end();
    await server.close();
  });
  const close = async () => {
    await service.stop();
    await closeDatabase();
    await folder.remove();
  };
  try {
    const audit = { pool, clock, actor: 'bench' };
    const secretKey = readFileSync(join(folder.dir, 'secret.key'), 'utf8').trim();
    progress(`${partnerCount} partners …`);
    const partners = await createPartners(audit, secretKey, partnerCount);
    await greet(service.address, partners);
    const { connection } = server;
    return {
      service,
      connection,
      pool,
      audit,
      secretKey,
      partners,
      memoryAtRest,
      verify: () => verify(pool),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Filling and vacuuming take longer than anything the service may do. */
const patient = {
  application_name: 'kopeck bench',
  statement_timeout: 0,
  query_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
};

async function verify(pool: Pool): Promise<number> {
  const { findings, entries } = await verifyLedger(pool);
  if (findings.length > 0) throw new Error(`the ledger is off: ${JSON.stringify(findings)}`);
  const { rows } = await pool.query('SELECT count(*)::int AS unfinished FROM open_payments');
  if (rows[0].unfinished > 0) throw new Error(`${rows[0].unfinished} payments were left unfinished`);
  return Number(entries);
}

/** Settled payments of all partners, counted by their entries: two each, beside the two credits of each account. */
export async function countPayments(pool: Pool): Promise<number> {
  const { rows } = await pool.query(
    `SELECT coalesce(sum(entry_count - 2) / 2, 0)::int AS stored FROM accounts WHERE mode = '${mode}' AND entry_count > 1`,
  );
  return rows[0].stored;
}
