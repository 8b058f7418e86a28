import { describe, expect, test, vi } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { transaction } from '../../src/db/postgres/pool.ts';
import { type AttemptResult, recordAttempts } from '../../src/webhooks/delivery/recorder.ts';
import { startDelivery } from '../../src/webhooks/delivery/worker.ts';
import {
  addEndpoint,
  contractEvents,
  createSender,
  findWebhook,
  firstEndpointOf,
  listWebhooks,
  removeEndpoint,
  resendEvent,
  setWebhook,
} from '../../src/webhooks/index.ts';
import { countWaiting, follow, holdLocks } from '../helpers/locks.ts';
import { hanging, withStatus } from '../helpers/webhook-receiver.ts';
import { pausesSec, untilReceived } from './delivery-world.ts';
import { startEndpointWorld } from './endpoint-world.ts';

const world = await startEndpointWorld();
const { pool, clock, audit, vault, deps, newPartner, add, noticesOf } = world;
const url = 'https://shop.example/hook';

describe('five endpoints at most', () => {
  test('in each mode, however many are added at once', async () => {
    const { partnerId } = await newPartner();
    for (const mode of ['live', 'test'] as const) {
      const added = await Promise.all(
        Array.from({ length: 8 }, () =>
          addEndpoint(audit, vault, partnerId, { mode, url, events: contractEvents }),
        ),
      );
      const outcomes = added.map(({ outcome }) => outcome).toSorted();
      expect(outcomes).toEqual([...Array(4).fill('added'), ...Array(4).fill('too_many')]);
    }
    const endpoints = await listWebhooks(pool, partnerId);
    expect(endpoints).toHaveLength(9);
    const removed = endpoints.find(({ mode }) => mode === 'live')!;
    expect(await removeEndpoint(audit, removed)).toBe('removed');
    const again = await addEndpoint(audit, vault, partnerId, { mode: 'live', url, events: contractEvents });
    expect(again.outcome).toBe('added');
  });

  test('by the database itself', async () => {
    const { partnerId } = await newPartner();
    const insert = (number: number) =>
      transaction(pool, tx =>
        tx.query({
          text: `INSERT INTO endpoints (endpoint_id, partner_id, mode, number, url, secret, events, created_at, changed_at)
                 VALUES (gen_random_uuid(), $1, 'test', $2, 'u', '', '{payment.failed}', now(), now())`,
          values: [uuidFromId(partnerId), number],
        }),
      );
    await expect(insert(1)).rejects.toThrow('endpoints_are_first_in_both_modes');
    await expect(insert(0)).rejects.toThrow('endpoints_are_five');
    await expect(insert(6)).rejects.toThrow('endpoints_are_five');
    await insert(5);
    await expect(insert(5)).rejects.toThrow('endpoints_have_a_number');
  });
});

describe('a removed endpoint', () => {
  test('gets nothing more, and nothing is left of what waited for it', async () => {
    const { partnerId, receiver, pay } = await newPartner();
    const other = await add(partnerId);
    other.receiver.answer(withStatus(500));
    await pay();
    await other.untilRecorded(1);
    expect(await removeEndpoint(audit, { partnerId, endpointId: other.endpointId })).toBe('removed');
    expect(await removeEndpoint(audit, { partnerId, endpointId: other.endpointId })).toBe('no_webhook');
    await world.later(10_000);
    await pay();
    await untilReceived(clock, receiver, 2);
    const { rowCount } = await pool.query('SELECT FROM deliveries WHERE endpoint_id = $1', [
      uuidFromId(other.endpointId),
    ]);
    expect([rowCount, other.receiver.received.length]).toEqual([0, 1]);
  });

  test('while an attempt is under way: its result is dropped', async () => {
    const { partnerId, receiver, pay } = await newPartner();
    const [other, third] = [await add(partnerId), await add(partnerId)];
    const complaints = vi.spyOn(deps.log, 'error');
    const answers: (() => void)[] = [];
    other.receiver.answer(response => answers.push(() => void response.writeHead(200).end()));
    await pay();
    await untilReceived(clock, other.receiver, 1);
    await removeEndpoint(audit, { partnerId, endpointId: other.endpointId });
    for (const answer of answers) answer();
    await pay();
    await untilReceived(clock, receiver, 2);
    await third.untilRecorded(2);
    expect(await other.attempts()).toEqual([]);
    expect(complaints).not.toHaveBeenCalled();
    complaints.mockRestore();
  });

  // On Citus the payment waits on another server than the one with the lock.
  test.skipIf(process.env.KOPECK_TEST_CITUS)(
    'leaves no delivery of a payment that ends at the same moment',
    async () => {
      const { partnerId, pay } = await newPartner();
      const other = await add(partnerId);
      // The payment has seen the endpoint, and waits before it writes its event.
      await pool.query(`
      CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NEW; END $$;
      CREATE TRIGGER wait_for_test BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION wait_for_test()`);
      const { unlock } = await holdLocks(world.url, 'SELECT pg_advisory_xact_lock(4711)', []);
      const waiting = (count: number) => expect.poll(() => countWaiting(pool), { interval: 5 }).toBe(count);
      const paying = pay();
      await waiting(1);
      const removing = follow(removeEndpoint(audit, { partnerId, endpointId: other.endpointId }));
      await Promise.race([waiting(2), removing.result]);
      await unlock();
      await Promise.all([paying, removing.result]);
      await pool.query('DROP TRIGGER wait_for_test ON events');
      const { rowCount } = await pool.query('SELECT FROM deliveries WHERE endpoint_id = $1', [
        uuidFromId(other.endpointId),
      ]);
      expect(rowCount).toBe(0);
    },
  );

  test('may be the first one; a new one begins with a secret of its own', async () => {
    const { partnerId, endpoint, pay, secret } = await newPartner();
    const other = await add(partnerId);
    expect(await removeEndpoint(audit, endpoint)).toBe('removed');
    await pay();
    await other.untilRecorded(1);
    expect(await findWebhook(pool, partnerId)).toBeUndefined();
    const eventId = BigInt(other.receiver.received[0]!.json.id.slice(4));
    expect(await resendEvent(audit, eventId)).toMatchObject({ endpointId: other.endpointId });
    await setWebhook(audit, vault, partnerId, url);
    expect((await findWebhook(pool, partnerId))!.isFirst).toBe(true);
    expect((await world.secretsOf(partnerId))[0]).not.toBe(secret);
  });
});

test('a hanging attempt at one endpoint does not keep the same event from another', async () => {
  await world.stopDelivery();
  const patient = createSender({ clock, allowPrivate: true, timeoutMs: 60_000 });
  world.delivery = startDelivery({ ...deps, sender: patient });
  const { partnerId, pay } = await newPartner();
  const [hangs, fails] = [await add(partnerId), await add(partnerId)];
  hangs.receiver.answer(hanging);
  fails.receiver.answer(withStatus(500));
  await pay();
  await untilReceived(clock, hangs.receiver, 1);
  await fails.untilRecorded(1);
  clock.advance(10_000);
  world.delivery.runNow();
  await fails.untilRecorded(2);
  expect(await hangs.attempts()).toEqual([]);
  await world.stopDelivery();
  world.delivery = startDelivery(deps);
  await patient.close();
});

const first = 'the first endpoint';
test.each([first, 'a further endpoint'])(
  'a late result of an earlier attempt at %s changes nothing',
  async what => {
    // The attempts here are made by nobody: what two processes record of them is all that counts.
    await world.stopDelivery();
    const { partnerId, pay } = await newPartner();
    const endpointId = what === first ? firstEndpointOf(partnerId) : (await add(partnerId)).endpointId;
    await pay();
    const text = 'SELECT event_id, attempts, next_at, failed_at FROM deliveries WHERE endpoint_id = $1';
    const delivery = async () => (await pool.query(text, [uuidFromId(endpointId)])).rows[0];
    const { event_id: eventId } = await delivery();
    const record = (attempt: number, changes: Partial<AttemptResult> = {}) => {
      const at = new Date(clock.nowMs());
      const nextAt = new Date(clock.nowMs() + pausesSec[attempt]! * 1_000);
      const result = {
        ...{ partnerId, endpointId, eventId, attempt, at, nextAt, isDelivered: false, hasHung: false },
        ...{ status: 500, error: null, responseBody: null, durationMs: 1, ...changes },
      };
      return transaction(pool, tx => recordAttempts(tx, [result], 'suspended'));
    };

    await record(1);
    clock.advance(10_000);
    await record(2);
    const expected = await delivery();
    expect(expected).toMatchObject({ attempts: 2, failed_at: null });
    // From a process that hung: the attempt that was made again, the one before, and the last one of an earlier schedule.
    await record(2, { nextAt: new Date(clock.nowMs()) });
    await record(1);
    await record(pausesSec.length, { nextAt: null });
    expect(await delivery()).toEqual(expected);
    expect(await noticesOf(partnerId)).toEqual([]);
  },
);
