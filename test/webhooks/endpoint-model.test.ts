import { expect, test } from 'vitest';
import type { Id } from '../../src/base/ids.ts';
import { type EventKind, listWebhooks, removeEndpoint, setEvents } from '../../src/webhooks/index.ts';
import { setRate } from '../helpers/api.ts';
import { createRandom } from '../helpers/random.ts';
import { withStatus } from '../helpers/webhook-receiver.ts';
import { startEndpointWorld } from './endpoint-world.ts';

const world = await startEndpointWorld();
const { pool, clock, audit, newPartner, add } = world;
const kinds: EventKind[] = ['payment.succeeded', 'payment.failed'];

interface Modelled {
  endpoint: Awaited<ReturnType<typeof add>>;
  events: EventKind[];
  /** The payments whose event it must get. */
  expected: Id<'pay'>[];
  isRemoved: boolean;
}

/** A partner that adds, changes and removes endpoints between payments, and endpoints that refuse some requests. */
test.each([1, 2])('seed %i: each endpoint gets exactly what it asked for while it was there', async seed => {
  const random = createRandom(seed);
  const { partnerId, receiver, pay } = await newPartner();
  const first: Id<'pay'>[] = [];
  const all: Modelled[] = [];
  const present = () => all.filter(one => !one.isRemoved);
  const someKinds = () => random.pick<EventKind[]>([kinds, [kinds[0]!], [kinds[1]!]]);

  async function addOne(): Promise<void> {
    const events = someKinds();
    const endpoint = await add(partnerId, { events });
    const refuses = random.chance(0.5);
    let requests = 0;
    endpoint.receiver.answer(response => {
      requests += 1;
      withStatus(refuses && requests % 3 === 1 ? 500 : 200)(response);
    });
    all.push({ endpoint, events, expected: [], isRemoved: false });
  }

  const steps = {
    pay: async () => {
      const succeeds = random.chance(0.6);
      const paymentId = await pay(succeeds ? 10_000 : 10_001);
      first.push(paymentId);
      for (const one of present())
        if (one.events.includes(succeeds ? kinds[0]! : kinds[1]!)) one.expected.push(paymentId);
    },
    add: async () => {
      if (present().length < 3) await addOne();
    },
    filter: async () => {
      const one = random.pick(present());
      one.events = someKinds();
      await setEvents(audit, { partnerId, endpointId: one.endpoint.endpointId }, one.events);
    },
    remove: async () => {
      const one = random.pick(present());
      one.isRemoved = true;
      await removeEndpoint(audit, { partnerId, endpointId: one.endpoint.endpointId });
    },
    wait: async () => {
      clock.advance(10_000);
      await setRate(pool, clock);
      world.delivery.runNow();
    },
  };
  await addOne();
  for (let step = 0; step < 25; step++) {
    const names = ['pay', 'pay', 'pay', 'add', 'wait', ...(present().length > 0 ? ['filter', 'remove'] : [])];
    await steps[random.pick(names) as keyof typeof steps]();
  }

  await clock.until(async () => {
    await clock.advance(30_000);
    const endpoints = await listWebhooks(pool, partnerId);
    expect(endpoints.map(({ waiting, givenUp }) => [waiting, givenUp])).toEqual(endpoints.map(() => [0, 0]));
  });
  const distinct = (payments: string[]) => [...new Set(payments)].toSorted();
  expect(distinct(receiver.received.map(({ json }) => json.data.id))).toEqual(first.toSorted());
  for (const { endpoint, expected, isRemoved } of all) {
    const got = distinct(endpoint.paymentsReceived());
    // What waited for a removed endpoint is not sent.
    if (isRemoved) expect(expected).toEqual(expect.arrayContaining(got));
    else expect(got).toEqual(expected.toSorted());
    const delivered = (await endpoint.attempts()).filter(({ status }) => status === 200);
    expect(new Set(delivered.map(({ eventId }) => eventId)).size).toBe(delivered.length);
  }
});
