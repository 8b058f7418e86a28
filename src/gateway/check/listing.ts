import { dayMs } from '../../base/clock.ts';
import { readPage } from '../answers.ts';
import { listPath } from '../transport.ts';
import { describeReply } from './client.ts';
import { hasTimeZone } from './reading.ts';
import {
  type Check,
  expectOrder,
  fail,
  firstOrder,
  newPaymentId,
  sendOrder,
  shownOrder,
  skip,
  type World,
} from './world.ts';

type Fields = Record<string, unknown>;

const maxSkewMs = 60_000;
const maxPages = 100;

interface RawPage {
  orders: Fields[];
  nextCursor: string | null;
}

async function readRaw(
  { client }: World,
  { since, limit, cursor }: { since: Date; limit: number; cursor?: string | null },
): Promise<RawPage> {
  const reply = await client.send({ method: 'GET', path: listPath('orders', since, limit, cursor) });
  const { orders, next_cursor: nextCursor } = reply.body ?? {};
  if (reply.status !== 200 || !Array.isArray(orders)) fail(describeReply(reply));
  if (nextCursor !== null && typeof nextCursor !== 'string') fail('next_cursor is neither a string nor null');
  return { orders, nextCursor };
}

/** From a day before: an adapter whose clock is wrong still lists them, and is reported for its clock alone. */
async function readAll(world: World): Promise<Fields[]> {
  const since = new Date(world.startedAt.getTime() - dayMs);
  const all: Fields[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < maxPages; page++) {
    const { orders, nextCursor }: RawPage = await readRaw(world, { since, limit: 1_000, cursor });
    all.push(...orders);
    if (nextCursor === null) return all;
    if (nextCursor === cursor) fail('next_cursor is the cursor of the same page: the list has no end');
    cursor = nextCursor;
  }
  return skip(`the list of the last day has more than ${maxPages} pages`);
}

const listedOnce = (orders: Fields[], paymentId: string): Fields => {
  const found = orders.filter(order => order.payment_id === paymentId);
  if (found.length !== 1) fail(`${paymentId} is listed ${found.length} times`);
  return found[0]!;
};

/** Pages from the first order of this run on, while another one is placed. */
async function readPages(world: World): Promise<string[]> {
  const first = listedOnce(await readAll(world), firstOrder(world).paymentId);
  const createdAt = String(first.created_at);
  const since = hasTimeZone(createdAt) ? new Date(createdAt) : world.startedAt;
  const seen: string[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < maxPages; page++) {
    const read: RawPage = await readRaw(world, { since, limit: 1, cursor });
    if (read.orders.length > 1) fail(`${read.orders.length} orders on a page with limit 1`);
    seen.push(...read.orders.map(order => String(order.payment_id)));
    if (page === 0) await placeMore(world);
    if (page === 1) {
      const again = await readRaw(world, { since, limit: 1, cursor });
      if (again.orders[0]?.payment_id !== read.orders[0]?.payment_id)
        fail('the same cursor gave another page the second time');
    }
    if (read.nextCursor === null) return seen;
    if (read.nextCursor === cursor) fail('next_cursor is the cursor of the same page: the list has no end');
    cursor = read.nextCursor;
  }
  return skip(`more than ${maxPages} orders arrived during the check`);
}

async function placeMore(world: World): Promise<void> {
  const paymentId = newPaymentId(world);
  const { orderId } = expectOrder(world, 'PUT', await sendOrder(world, paymentId));
  world.accepted.push({ paymentId, orderId, reference: 'check' });
}

export const listingChecks: Check[] = [
  {
    name: 'orders in the list',
    rule: 'The list has every accepted order once, with payment_id, order_id, the state that GET shows, amount_kopecks (an integer) and created_at, and none that was not accepted.',
    run: async world => {
      const { paymentId: firstId } = firstOrder(world);
      const first = await shownOrder(world, firstId);
      const orders = await readAll(world);
      const { state } = listedOnce(orders, firstId);
      if (first.outcome !== 'accepted' && state !== first.outcome)
        fail(`${firstId} is ${first.outcome}, and the list shows ${String(state).slice(0, 60)}`);
      for (const { paymentId, orderId } of world.accepted) {
        const order = listedOnce(orders, paymentId);
        const read = readPage({ orders: [order], next_cursor: null })?.orders[0];
        if (!read) fail(`${paymentId} has a field that is missing or has another type`);
        if (read.orderId !== orderId) fail(`${paymentId} has another order_id than the PUT answered`);
        if (read.amountKopecks !== world.amountKopecks)
          fail(`${paymentId} has ${read.amountKopecks} kopecks, not ${world.amountKopecks}`);
      }
      const wrong = orders.find(order => world.neverPaid.some(id => id === order.payment_id));
      if (wrong) fail(`${wrong.payment_id} is listed, and was voided or rejected`);
    },
  },
  {
    name: 'times',
    rule: 'created_at is a time with Z or an offset, by a clock that is right to the minute, and grows along the list.',
    run: async world => {
      firstOrder(world);
      const orders = await readAll(world);
      const own = new Set<unknown>(world.accepted.map(({ paymentId }) => paymentId));
      const times = orders.filter(order => own.has(order.payment_id)).map(order => String(order.created_at));
      const without = times.find(time => !hasTimeZone(time));
      if (without !== undefined) fail(`created_at is ${JSON.stringify(without.slice(0, 60))}`);
      const ms = times.map(time => Date.parse(time));
      const [from, until] = [world.startedAt.getTime() - maxSkewMs, world.clock.nowMs() + maxSkewMs];
      const off = ms.find(one => one < from || one > until);
      if (off !== undefined)
        fail(`an order of this check has created_at ${new Date(off).toISOString()}: compare the clocks`);
      if (ms.some((one, index) => one < (ms[index - 1] ?? 0)))
        fail('a later order has an earlier created_at');
    },
  },
  {
    name: 'pages',
    rule: 'Pages with limit 1 have every order once, oldest first, also if one is accepted meanwhile. `since` includes its own time; a cursor gives the same page again.',
    run: async world => {
      if (world.accepted.length < 2) skip('fewer than two orders were accepted before');
      const seen = await readPages(world);
      const expected = world.accepted.map(({ paymentId }) => paymentId as string);
      const own = seen.filter(id => expected.includes(id));
      const missing = expected.find(id => !own.includes(id));
      if (missing) fail(`${missing} is on no page`);
      if (own.length > expected.length) fail('an order is on two pages');
      if (own.join() !== expected.join()) fail('the orders are not in the order in which they were placed');
    },
  },
];
