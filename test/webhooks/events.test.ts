import { describe, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { nextLoopTurn } from '../../src/db/batching/batch.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { archiveMonths } from '../../src/payments/index.ts';
import { reEnable } from '../../src/webhooks/admin/check.ts';
import { startDelivery } from '../../src/webhooks/delivery/worker.ts';
import { findWebhook, listAttempts, pruneLog, resendEvent } from '../../src/webhooks/index.ts';
import { partnerAt } from '../helpers/api.ts';
import { withStatus } from '../helpers/webhook-receiver.ts';
import { startDeliveryWorld, untilReceived } from './delivery-world.ts';

const world = await startDeliveryWorld();
const { pool, clock, audit, newPartner, untilRecorded } = world;

describe('kept events wait for an earlier one whose attempt could not be recorded', () => {
  /** The first attempt is not recorded; its event pauses until the test says so, and the read of the next one may be slow. */
  async function startPausing(onRead: () => Promise<void>) {
    await world.stopDelivery();
    const resumed = Promise.withResolvers<void>();
    let failures = 1;
    const pausing = ({ query }: Queryable): Queryable => ({
      query: async statement => {
        if (statement.text.includes('deliveries_end(') && failures-- > 0) throw new Error('cut');
        const result = await query<never>(statement);
        if (statement.name === 'read due deliveries' && failures < 1 && result.rows.length > 0)
          await onRead();
        return result;
      },
    });
    const sleep: typeof clock.sleep = (ms, signal) =>
      ms === 5_000 ? resumed.promise : clock.sleep(ms, signal);
    const slow = { ...world.deps, clock: { ...clock, sleep } };
    world.delivery = startDelivery({ ...slow, db: pausing(slow.db) });

    const { receiver, pay, partnerId, endpoint, paymentsReceived } = await newPartner();
    receiver.answer(withStatus(503));
    const first = await pay();
    await untilReceived(clock, receiver, 1);
    await world.suspend(endpoint.endpointId);
    const second = await pay();
    expect(await reEnable(audit, (await findWebhook(pool, partnerId))!)).toBe('re_enabled');
    return { receiver, paymentsReceived, resume: resumed.resolve, inOrder: [first, first, second] };
  }

  test('while it pauses', async () => {
    const { receiver, paymentsReceived, resume, inOrder } = await startPausing(async () => {});
    // The event of another partner proves that the sender has run since.
    const other = await newPartner();
    await other.pay();
    await untilReceived(clock, other.receiver, 1);
    expect(receiver.received).toHaveLength(1);
    receiver.answer(withStatus(200));
    resume();
    await untilReceived(clock, receiver, 3);
    expect(paymentsReceived()).toEqual(inOrder);
  });

  test('also if they were read while it paused, and the pause has ended since', async () => {
    const isRead = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const { receiver, paymentsReceived, resume, inOrder } = await startPausing(() => {
      isRead.resolve();
      return goOn.promise;
    });
    world.delivery.runNow();
    await isRead.promise;
    receiver.answer(withStatus(200));
    resume();
    await nextLoopTurn();
    goOn.resolve();
    await untilReceived(clock, receiver, 3);
    expect(paymentsReceived()).toEqual(inOrder);
  });
});

test('an event sent again during a suspension also goes out in the order of events', async () => {
  const { pay, partnerId, endpoint, paymentsReceived } = await newPartner();
  const first = await pay();
  await untilRecorded(partnerId, 1);
  const { eventId } = (await listAttempts(pool, partnerId, 1))[0]!;
  await world.suspend(endpoint.endpointId);
  const kept = [await pay(), await pay()];
  clock.advance(1_000);
  await resendEvent(audit, eventId);
  expect(await reEnable(audit, (await findWebhook(pool, partnerId))!)).toBe('re_enabled');
  world.delivery.runNow();
  await untilRecorded(partnerId, 4);
  expect(paymentsReceived()).toEqual([first, first, ...kept]);
});

describe('the feed', () => {
  test('pages in order, for its mode only, and refuses an invalid event id', async () => {
    const { partner, pay, receiver } = await newPartner();
    const ids = [await pay(), await pay(), await pay()];
    await untilReceived(clock, receiver, 3);
    const first = (await partner.get('/v1/events?limit=2')).json;
    expect([first.data.length, first.has_more]).toEqual([2, true]);
    const rest = (await partner.get(`/v1/events?limit=2&after=${first.next_cursor}`)).json;
    expect([...first.data, ...rest.data].map(({ data }) => data.id)).toEqual(ids);
    const end = (await partner.get(`/v1/events?after=${rest.next_cursor}`)).json;
    expect(end).toMatchObject({ data: [], has_more: false, next_cursor: rest.next_cursor });
    for (const wrong of ['evt_x', '17', 'evt_-1', 'evt_99999999999999999999', 'pay_1'])
      expect((await partner.get(`/v1/events?after=${wrong}`)).status).toBe(422);
    for (const limit of ['0', '101', 'x'])
      expect((await partner.get(`/v1/events?limit=${limit}`)).status).toBe(422);
  });

  test('answers not_found to a cursor that it never gave to this partner and mode', async () => {
    const [one, other] = [await newPartner(), await newPartner()];
    await one.pay();
    await other.pay();
    await one.pay();
    const idsOf = async ({ partner }: typeof one) =>
      (await partner.get('/v1/events')).json.data.map(({ id }: { id: string }) => id) as string[];
    const [first, last] = await idsOf(one);
    const [foreign] = await idsOf(other);
    const beyond = `evt_${BigInt(last!.slice(4)) + 1_000_000n}`;
    const live = partnerAt(world.address, one.liveKey);
    for (const [reader, after] of [
      [one.partner, beyond],
      [one.partner, foreign],
      [live, first],
      [live, last],
    ] as const) {
      const { status, json } = await reader.get(`/v1/events?after=${after}`);
      expect([status, json.error?.code], `after ${after}`).toEqual([404, 'not_found']);
    }
    expect((await one.partner.get(`/v1/events?after=${first}`)).json.data).toMatchObject([{ id: last }]);
  });

  test('accepts every cursor that it gave, also those of empty pages, and latest', async () => {
    const { partner, pay } = await newPartner();
    const page = async (after: string) => (await partner.get(`/v1/events?after=${after}`)).json;
    const empty = { data: [], has_more: false, next_cursor: 'evt_0' };
    expect(await page('latest')).toMatchObject(empty);
    expect(await page('evt_0')).toMatchObject(empty);
    const paid = await pay();
    const { data, next_cursor } = await page('evt_0');
    expect(data).toMatchObject([{ id: next_cursor, data: { id: paid } }]);
    for (const after of [next_cursor, 'latest'])
      expect(await page(after)).toMatchObject({ data: [], has_more: false, next_cursor });
  });
});

describe('the log', () => {
  test('is deleted after thirty days', async () => {
    const prune = () => pruneLog(world.pool, clock);
    const { pay, partnerId } = await newPartner();
    await pay();
    await untilRecorded(partnerId, 1);
    clock.advance(30 * 86_400_000);
    await prune();
    expect(await listAttempts(pool, partnerId, 10)).toHaveLength(1);
    clock.advance(1_000);
    expect(await prune()).toBeGreaterThan(0);
    expect(await listAttempts(pool, partnerId, 10)).toEqual([]);
  });
});

test('an event is sent again under the same delivery id, with the same payment, also when that is archived', async () => {
  const { partnerId, receiver, pay } = await newPartner();
  await pay();
  await untilRecorded(partnerId, 1);
  const { eventId } = (await listAttempts(pool, partnerId, 1))[0]!;
  const queued = { outcome: 'queued', partnerId, suspended: false };
  expect(await resendEvent(audit, eventId)).toMatchObject(queued);
  expect(await resendEvent(audit, 10n ** 15n)).toEqual({ outcome: 'no_event' });
  world.delivery.runNow();
  await untilRecorded(partnerId, 2);
  const before = new Date(clock.nowMs() + 40 * 86_400_000);
  clock.advance(80 * 86_400_000);
  await archiveMonths(audit, { before });
  const left = await pool.query('SELECT FROM payments WHERE partner_id = $1', [uuidFromId(partnerId)]);
  expect(left.rowCount).toBe(0);

  expect(await resendEvent(audit, eventId)).toMatchObject(queued);
  await untilReceived(clock, receiver, 3);
  const [first, ...others] = receiver.received;
  for (const { json, headers } of others)
    expect([json, headers['x-service-delivery']]).toEqual([
      first!.json,
      first!.headers['x-service-delivery'],
    ]);
});
