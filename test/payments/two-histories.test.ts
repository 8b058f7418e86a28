import { expect, test } from 'vitest';
import type { Pool } from '../../src/db/pool.ts';
import { startLostWorld } from './lost-world.ts';

const worlds = await Promise.all(Array.from({ length: 3 }, startLostWorld));
/** Orders that are not known here stay at their bank, so each such test has a bank of its own. */
const nextWorld = () => worlds.pop()!;

const { clock, before, newCustomer, newQr, lose } = nextWorld();
/** From the beginning of an incarnation until late orders have arrived. */
const lateOrdersMs = 20_000;
/** From the last order that was new until it is certain that nobody else sends any. */
const noNewOrdersMs = 10_000;

test('a partner goes on from a lost event, although a promoted server has its sequence further ahead', async () => {
  const { liveKey } = await newCustomer();
  // PostgreSQL logs a sequence 32 numbers ahead.
  const onCopy = (copy: Pool) =>
    copy.query(
      `SELECT setval(s, nextval(s) + 31) FROM (SELECT pg_get_serial_sequence('events', 'id')::regclass AS s) AS sequence`,
    );
  const { after, result } = await lose(
    async () => {
      await before.as(liveKey).pay({ qr_url: (await newQr()).link });
      return (await before.as(liveKey).get('/v1/events?after=latest')).json.next_cursor as string;
    },
    { onCopy },
  );
  await after.round();
  await after.poll();
  const feed = await after.as(liveKey).get(`/v1/events?after=${result}`);
  expect(feed).toMatchObject({ status: 200, json: { data: [{ data: { status: 'succeeded' } }] } });
});

test('two histories that begin from the same backup, one after the other, give out different numbers', async () => {
  const { newCustomer, newQr, loseTwice, clock } = nextWorld();
  const { liveKey } = await newCustomer();
  const numbers = async (pool: Pool) =>
    (
      await pool.query<{ event: bigint; entry: bigint }>(
        'SELECT (SELECT max(id) FROM events) AS event, (SELECT max(entry_no) FROM entries) AS entry',
      )
    ).rows[0]!;
  const pay = async (service: Awaited<ReturnType<typeof loseTwice>>[number]) => {
    clock.advance(lateOrdersMs);
    await service.round();
    clock.advance(noNewOrdersMs);
    await service.round();
    expect((await service.as(liveKey).pay({ qr_url: (await newQr()).link })).json.status).toBe('succeeded');
    return numbers(service.pool);
  };
  const [first, second] = await loseTwice();
  const [before, after] = [await pay(first), await pay(second)];
  expect(after.event).toBeGreaterThan(before.event);
  expect(after.entry).toBeGreaterThan(before.entry);
});

test('orders that keep coming from elsewhere keep the service closed and raise an alarm', async () => {
  const { clock, before, newCustomer, newQr, lose } = nextWorld();
  const { liveKey } = await newCustomer();
  const { after } = await lose(async () => {});
  await after.round();
  clock.advance(2 * lateOrdersMs);
  const qr = await newQr();
  await before.as(liveKey).pay({ qr_url: qr.link });
  await after.round();
  expect(await after.isOpen()).toBe(false);
  expect(await after.alarms()).toContain('foreign_orders');
});

test('an installation that goes on paying, with pauses between two lists, keeps a copy of it closed', async () => {
  const { liveKey } = await newCustomer();
  const { after } = await lose(async () => {});
  for (let seconds = 0; seconds < 30; seconds += 6) {
    const qr = await newQr();
    await before.as(liveKey).pay({ qr_url: qr.link });
    clock.advance(6_000);
    await after.round();
    await after.round();
    expect(await after.isOpen()).toBe(false);
  }
  clock.advance(noNewOrdersMs);
  await after.round();
  expect(await after.isOpen()).toBe(true);
});
