import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { startDelivery } from '../../src/webhooks/delivery/worker.ts';
import {
  createSender,
  createVault,
  firstEndpointOf,
  listAttempts,
  readSecrets,
  setWebhook,
} from '../../src/webhooks/index.ts';
import {
  type ApiOptions,
  createPartnerWithKeys,
  keyring,
  newLink,
  partnerAt,
  setRate,
  startApi,
} from '../helpers/api.ts';
import type { ManualClock } from '../helpers/clock.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { type Receiver, startReceiver } from '../helpers/webhook-receiver.ts';

export const pausesSec = [0, 10, 30, 120, 300, 900, 3_600, 10_800, 21_600];

export type DeliveryOptions = Pick<ApiOptions, 'gatewayUrl'>;

/** The API with the delivery of webhooks beside it, with a manual clock. */
export async function startDeliveryWorld(options: DeliveryOptions = {}) {
  const { pool, url, clock, audit } = await createTimedDatabase();
  const { address, deps: apiDeps } = await startApi({ pool, clock, ...options });
  const vault = createVault(keyring);
  const sender = createSender({ clock, allowPrivate: true, timeoutMs: 10_000 });
  const deps = { ...apiDeps, vault, sender, webhookRetryScheduleSec: pausesSec };
  afterAll(() => sender.close());

  /** A partner with a receiver, and a way to make events. */
  async function newPartner() {
    const { partnerId, testKey, liveKey } = await createPartnerWithKeys(pool);
    const receiver = await startReceiver();
    await setWebhook(audit, vault, partnerId, receiver.url);
    const partner = partnerAt(address, testKey);
    const pay = async (kopecks = 10_000): Promise<Id<'pay'>> => {
      const { id, status } = (await partner.pay({ qr_url: newLink(kopecks) }, randomUUID())).json;
      expect(status).not.toBe('processing');
      return id;
    };
    const [secret = ''] = await readSecrets(pool, vault, partnerId, clock.nowMs());
    const endpoint = { partnerId, endpointId: firstEndpointOf(partnerId) };
    const paymentsReceived = () => receiver.received.map(({ json }) => json.data.id);
    return { partnerId, endpoint, receiver, partner, pay, secret, liveKey, paymentsReceived };
  }

  const world = {
    ...{ pool, url, clock, address, deps, audit, vault, sender, newPartner },
    secretsOf: (partnerId: Id<'prt'>) => readSecrets(pool, vault, partnerId, clock.nowMs()),
    untilRecorded: (partnerId: Id<'prt'>, count: number) =>
      clock.until(async () => expect(await listAttempts(pool, partnerId, 1_000)).toHaveLength(count)),
    /** About sending; not about changes by people. */
    noticesOf: async (partnerId: Id<'prt'>): Promise<string[]> => {
      const { rows } = await pool.query(
        `SELECT kind FROM partner_notices WHERE partner_id = $1 AND kind ~ '^(delivery|sending)_' ORDER BY id`,
        [uuidFromId(partnerId)],
      );
      return rows.map(({ kind }) => kind);
    },
    /** Of the waiting events of an endpoint, all attempts but the last one have been made; that one comes now. */
    makeLastAttempt: async (endpointId: Id<'whe'>) => {
      await pool.query('UPDATE deliveries SET attempts = $2 WHERE endpoint_id = $1 AND failed_at IS NULL', [
        uuidFromId(endpointId),
        pausesSec.length - 1,
      ]);
      await world.later(pausesSec[1]! * 1_000);
    },
    /** Makes so many events that fail in their first and last attempt, and returns how many attempts these are. */
    failEvents: async (
      events: number,
      pay: () => Promise<unknown>,
      endpointId: Id<'whe'>,
      untilRecorded: (count: number) => Promise<unknown>,
    ) => {
      for (let event = 0; event < events; event++) {
        await setRate(pool, clock);
        await pay();
        await untilRecorded(2 * event + 1);
        await world.makeLastAttempt(endpointId);
        await untilRecorded(2 * event + 2);
      }
      return 2 * events;
    },
    suspend: (endpointId: Id<'whe'>) =>
      pool.query('UPDATE endpoints SET suspended_at = $2 WHERE endpoint_id = $1', [
        uuidFromId(endpointId),
        new Date(clock.nowMs()),
      ]),
    lease: (endpointId: Id<'whe'>, holder: number, ms: number) =>
      pool.query('UPDATE endpoints SET lease_holder = $2, leased_until = $3 WHERE endpoint_id = $1', [
        uuidFromId(endpointId),
        holder,
        new Date(clock.nowMs() + ms),
      ]),
    stopDelivery: () => clock.during(world.delivery.stop()),
    /**
     * What would be sent after this time. Started again: a process that was stopped for so long has lost its leases, and while it
     * gets them back an attempt may be made twice.
     */
    later: async (ms: number) => {
      await world.stopDelivery();
      await clock.advance(ms);
      world.delivery = startDelivery(deps);
    },
    /** Runs all the time; a test that replaces it starts its own. */
    delivery: startDelivery(deps),
  };
  afterEach(async () => {
    await world.stopDelivery();
    world.delivery = startDelivery(deps);
  });
  afterAll(world.stopDelivery);
  beforeEach(() => setRate(pool, clock));
  return world;
}

export const untilReceived = (clock: ManualClock, { received }: Receiver, count: number) =>
  clock.until(() => expect(received.length).toBeGreaterThanOrEqual(count));
