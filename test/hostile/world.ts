import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock as clock } from '../../src/base/clock.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { topUp } from '../../src/ledger/index.ts';
import { createKey, createPartner, setLimits } from '../../src/partners/index.ts';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { createDatabaseServer } from '../faults/database-server.ts';
import { startProgram } from '../faults/program.ts';
import { until } from '../faults/wait.ts';

/** What a attacker has: the address of the service, keys with the usual limits, and a QR code that is slow to resolve. */
export interface Target {
  address: string;
  testKeys: string[];
  liveKey: string;
  slowQr: string;
}

/** A service in one process, so that all partners share its event loop, pool, breaker and batches. */
export interface HostileWorld {
  target: Target;
  /** Of the partner whose payments are measured. */
  victimKeys: { test: string; live: string };
  newLiveQr(): Promise<string>;
  close(): Promise<void>;
}

const secretKey = 'a secret key for hostile attackers, long enough';
const keyring = createKeyring([secretKey]);
const historyLength = 200_000;
const attackerCount = 5;

export async function createHostileWorld(progress: (line: string) => void): Promise<HostileWorld> {
  progress('starting a database, the simulator and the service');
  const folder = mkdtempSync(join(tmpdir(), 'kopeck-hostile-'));
  const database = await createDatabaseServer(folder);
  const [simulator] = await Promise.all([
    startProgram('simulator/main.ts', [], { SIMULATOR_DIR: join(folder, 'simulator') }),
    database.start(),
  ]);
  const url = database.urlAt(database.port);
  const pool = openPool({ connectionString: url, statement_timeout: 0, query_timeout: 0 });
  await migrate(pool);
  const service = await startProgram('src/cli/main.js', ['start'], {
    PORT: '0',
    PROCESSES: '1',
    LOG_LEVEL: 'silent',
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: url,
    GATEWAY_URL: simulator.address,
    RATE_SOURCES: 'fixed:92.50',
    SECRET_KEY: secretKey,
    WEBHOOK_ALLOW_PRIVATE: 'true',
  });
  await until('there is a rate', 15_000, async () => (await pool.query('SELECT FROM rates')).rowCount! > 0);

  async function post(path: string, method: string, body: object) {
    const response = await fetch(`${simulator.address}${path}`, { method, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return (await response.json()) as { link: string; qrc_id: string };
  }
  const newLiveQr = () => post('/sim/qrs', 'POST', { scenario: 'C2B', amount_kopecks: 15_000 });
  const slow = await newLiveQr();
  await post('/sim/faults', 'PUT', { qrc_id: slow.qrc_id, on: 'resolve', kind: 'stall' });

  const victim = await createPartnerWithKeys(pool, 'Victim');
  await setLimits({ pool, clock, actor: 'hostile' }, victim.partnerId, {
    createRps: 100,
    createBurst: 100,
    concurrent: 100,
  });
  const attackers = [];
  for (let count = 0; count < attackerCount; count++)
    attackers.push(await createPartnerWithKeys(pool, `Attacker ${count}`));
  progress(`${historyLength} payments of one attacker`);
  await insertHistory(pool, attackers[0]!.partnerId);
  // Nobody listens there: every event of this attacker is tried again and again.
  const audit = { pool, clock, actor: 'hostile' };
  await setWebhook(audit, createVault(keyring), attackers[1]!.partnerId, 'http://127.0.0.1:1/');

  return {
    target: {
      address: service.address,
      testKeys: attackers.map(({ test }) => test),
      liveKey: attackers[0]!.live,
      slowQr: slow.link,
    },
    victimKeys: victim,
    newLiveQr: async () => (await newLiveQr()).link,
    close: async () => {
      await service.stop('SIGKILL');
      await pool.end();
      await simulator.stop('SIGKILL');
      await database.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function createPartnerWithKeys(
  pool: Pool,
  name: string,
): Promise<{ partnerId: Id<'prt'>; test: string; live: string }> {
  const audit = { pool, clock, actor: 'hostile' };
  const { partnerId } = await createPartner(audit, name);
  await topUp(audit, { partnerId, mode: 'live', reference: 'hostile', microUsdt: 1_000_000_000_000n });
  const keyFor = async (mode: 'live' | 'test') => {
    const creation = await createKey(audit, keyring, { partnerId, mode, allowedAddresses: [] });
    if (creation.outcome !== 'created') throw new Error(creation.outcome);
    return creation.key;
  };
  return { partnerId, test: await keyFor('test'), live: await keyFor('live') };
}

/** Payments that all failed. They are in no ledger: only lists read them. */
async function insertHistory(pool: Pool, partnerId: Id<'prt'>): Promise<void> {
  await pool.query(
    `INSERT INTO payments (partner_id, mode, id, status, status_detail, error_code, idempotency_key, request_hash, qrc_id,
                           qr_url, fingerprint, recipient, amount_kopecks, micro_usdt, rate_e4, rate_id, metadata,
                           created_at, settled_at)
     SELECT $1, 'test', (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - $2 + nth), 12, '0')
                         || '7000' || '8000' || lpad(to_hex(nth), 12, '0'))::uuid,
            'failed', 'gateway_declined', 'gateway_declined', 'history ' || nth, sha256('history'), 'AD' || nth,
            'https://qr.nspk.ru/AD' || nth, 'test', 'Test recipient', 1000, 109200, 925000, 1, '{}', now(), now()
       FROM generate_series(1, $2::bigint) AS nth`,
    [uuidFromId(partnerId), historyLength],
  );
  await pool.query('ANALYZE payments');
}
