import { systemClock as clock } from '../../src/base/clock.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { setLimits } from '../../src/partners/index.ts';
import { callBank } from '../faults/round.ts';
import { createWorld } from '../faults/world.ts';

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

const historyLength = 200_000;
const attackerCount = 5;
const victimLimits = { createRps: 100, createBurst: 100, concurrent: 100 };

export async function createHostileWorld(progress: (line: string) => void): Promise<HostileWorld> {
  progress('starting a database, the simulator and the service');
  const world = await createWorld();
  const service = await world.startService();
  const newQr = async () =>
    (await callBank(world, 'POST', '/sim/qrs', { scenario: 'C2B', amount_kopecks: 15_000 })) as {
      link: string;
      qrc_id: string;
    };
  const slow = await newQr();
  await callBank(world, 'PUT', '/sim/faults', { qrc_id: slow.qrc_id, on: 'resolve', kind: 'stall' });

  const newPartner = async () => {
    const partner = await world.createPartner({ isLimited: true });
    return { ...partner, live: partner.key, test: await world.createKey(partner.partnerId, 'test') };
  };
  const victim = await newPartner();
  await setLimits({ pool: world.pool, clock, actor: 'hostile' }, victim.partnerId, victimLimits);
  const attackers = await Promise.all(Array.from({ length: attackerCount }, newPartner));
  progress(`${historyLength} payments of one attacker`);
  await insertHistory(world.pool, attackers[0]!.partnerId);
  // Nobody listens there: every event of this attacker is tried again and again.
  await world.setWebhook(attackers[1]!, 'http://127.0.0.1:1/');

  return {
    target: {
      address: service.address,
      testKeys: attackers.map(({ test }) => test),
      liveKey: attackers[0]!.live,
      slowQr: slow.link,
    },
    victimKeys: victim,
    newLiveQr: async () => (await newQr()).link,
    close: world.close,
  };
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
