import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock as clock } from '../../src/base/clock.ts';
import type { AuditContext } from '../../src/db/audit/index.ts';
import type { Pool } from '../../src/db/postgres/index.ts';
import { createKeyring, type Keyring } from '../../src/db/secrets/index.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { type Running, start } from '../process.ts';
import { newFolder } from './cleanup.ts';
import { connectTo } from './databases.ts';
import { warmUpKeys } from './drive.ts';
import { createPartners, type PayingPartner } from './partners.ts';
import { freePort, startService } from './start-service.ts';

/** A running service in its own folder, with direct access to its database. */
export interface BenchEnvironment {
  service: Running & { inspectorPort: number };
  /** The gateway, a process of the bench that answers at once. */
  bank: Running;
  pool: Pool;
  audit: AuditContext;
  keyring: Keyring;
  partners: PayingPartner[];
  /** Verifies the ledger, since a load that breaks it is no valid measurement. Returns the number of entries. */
  verify(): Promise<number>;
  close(): Promise<void>;
}

export const partnerCount = 1_000;
const bankSide = join(import.meta.dirname, '..', 'bank.process.ts');

export async function openEnvironment(
  name: string,
  progress: (line: string) => void,
  { count = partnerCount } = {},
): Promise<BenchEnvironment> {
  progress(`Starting the service (${name}) …`);
  const folder = newFolder(name);
  const bank = await start(bankSide, [], {});
  const inspectorPort = await freePort();
  const service = await startService(folder.dir, {
    NODE_OPTIONS: `--inspect-port=${inspectorPort}`,
    GATEWAY_URL: bank.address,
    RATE_SOURCES: 'fixed:92.50',
    // All payments of one partner in one run are more than the usual quota.
    TEST_PAYMENTS_PER_DAY: '100000000',
  });
  const database = await connectTo(folder.dir);
  const { pool } = database;
  const close = async () => {
    await service.stop();
    await bank.stop();
    // It waits for running statements, so callers close after their last one.
    await database.close();
    await folder.remove();
  };
  try {
    const audit = { pool, clock, actor: 'bench' };
    const keyring = createKeyring([readFileSync(join(folder.dir, 'secret.key'), 'utf8').trim()]);
    progress(`${count} partners …`);
    const partners = await createPartners(audit, keyring, count, { mode: 'test' });
    await warmUpKeys(service.address, partners);
    return {
      service: { ...service, inspectorPort },
      bank,
      pool,
      audit,
      keyring,
      partners,
      verify: () => verify(pool),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function verify(pool: Pool): Promise<number> {
  const { findings, entries } = await verifyLedger(pool);
  if (findings.length > 0) throw new Error(`the ledger is broken: ${JSON.stringify(findings)}`);
  const { rows } = await pool.query('SELECT count(*)::int AS unfinished FROM open_payments');
  if (rows[0].unfinished > 0) throw new Error(`${rows[0].unfinished} payments were left unfinished`);
  return Number(entries);
}

/** Settled test payments of all partners, by their entries: two per payment, besides the two credits of each account. */
export async function countPayments(pool: Pool): Promise<number> {
  const { rows } = await pool.query(
    `SELECT coalesce(sum(entry_count - 2) / 2, 0)::int AS stored FROM accounts WHERE mode = 'test' AND entry_count > 1`,
  );
  return rows[0].stored;
}
