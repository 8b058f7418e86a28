import { expect, test } from 'vitest';
import { Kopeck, type KopeckError, type PaymentEvent, type PositionStore } from '../../sdk/src/index.ts';
import { createPartnerWithKeys, newLink, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { createRandom } from '../helpers/random.ts';
import { collect } from './fake.ts';

const { pool } = await createDatabase();
await setRate(pool);
const { address } = await startApi({ pool });

async function newClient(options: { fetch?: typeof fetch; sleep?: () => Promise<void> } = {}) {
  const { testKey } = await createPartnerWithKeys(pool);
  const kopeck = new Kopeck({ apiKey: testKey, baseUrl: address, maxRetries: 0, ...options });
  const pay = async (count: number) => {
    const ids: string[] = [];
    for (let made = 0; made < count; made++)
      ids.push((await kopeck.payments.create({ qr_url: newLink(10_000 + (made % 2)) })).id);
    return ids;
  };
  return { kopeck, pay };
}

const idsOf = async (events: AsyncIterable<PaymentEvent>) =>
  (await collect(events)).map(({ data }) => data.id);

function newStore() {
  const store = {
    at: undefined as string | undefined,
    load: () => store.at,
    save: async (id: string) => void Object.assign(store, { at: id }),
  };
  return store;
}

test('reads all pages, oldest first, and ends there without follow', async () => {
  const { kopeck, pay } = await newClient();
  // More than a page has.
  const made = await pay(101);
  expect(await idsOf(kopeck.events.read({ follow: false }))).toEqual(made);
});

test('after crashes at any moment each event has been handled at least once, in order, and none is left out', async () => {
  const { kopeck, pay } = await newClient();
  const random = createRandom(7);
  const made = await pay(40);
  const store = newStore();
  const handled: string[] = [];
  let crashes = 0;
  const crash = () => {
    crashes++;
    throw new Error('kill -9');
  };
  const dying: PositionStore = {
    load: () => store.load(),
    save: id => (random.chance(0.1) ? crash() : store.save(id)),
  };
  for (let done = false; !done; ) {
    try {
      for await (const { data } of kopeck.events.read({ store: dying, follow: false })) {
        if (random.chance(0.1)) crash();
        handled.push(data.id);
        if (random.chance(0.1)) crash();
      }
      done = true;
    } catch (error) {
      expect(String(error)).toContain('kill -9');
    }
  }
  expect(crashes).toBeGreaterThan(5);
  expect([...new Set(handled)]).toEqual(made);
  expect(handled.length).toBeGreaterThan(made.length);
});

test('from latest it reads new events only, and misses none that came before its next poll', async () => {
  let polls = 0;
  const sleep = async () => {
    polls += 1;
  };
  const { kopeck, pay } = await newClient({ sleep });
  await pay(2);
  const store = newStore();
  const reading = kopeck.events.read({ store, from: 'latest' })[Symbol.asyncIterator]();
  const next = reading.next();
  await expect.poll(() => polls).toBeGreaterThan(0);
  const { data } = await kopeck.events.list();
  expect(store.at).toBe(data.at(-1)!.id);
  const [paid] = await pay(1);
  expect((await next).value).toMatchObject({ data: { id: paid } });
});

test('an event that was handled but not saved comes again, and only that', async () => {
  const { kopeck, pay } = await newClient();
  const made = await pay(3);
  const store = newStore();
  for await (const { data } of kopeck.events.read({ store })) if (data.id === made[1]) break;
  expect(await idsOf(kopeck.events.read({ store, follow: false }))).toEqual(made.slice(1));
  expect(await collect(kopeck.events.read({ store, follow: false }))).toEqual([]);
});

test('starts at `from` with an empty store, otherwise at the stored position', async () => {
  const { kopeck, pay } = await newClient();
  const made = await pay(4);
  const { data } = await kopeck.events.list();
  const store = newStore();
  const read = () => idsOf(kopeck.events.read({ store, from: data[1]!.id, follow: false }));
  expect(await read()).toEqual(made.slice(2));
  store.at = data[0]!.id;
  expect(await read()).toEqual(made.slice(1));
});

test('follows new events, retries while the service is down, and ends quietly on abort', async () => {
  let away = 0;
  const naps: number[] = [];
  const { kopeck, pay } = await newClient({
    fetch: (...args) => {
      if (String(args[0]).includes('/events') && away-- > 0) throw new TypeError('fetch failed');
      return fetch(...args);
    },
    sleep: async (ms?: number) => {
      naps.push(ms!);
      // Something happens while the reader waits.
      if (naps.length === 1) away = 3;
      if (naps.length === 5) made.push(...(await pay(2)));
    },
  });
  const made = await pay(1);
  const failures: KopeckError[] = [];
  const leave = new AbortController();
  const seen: string[] = [];
  for await (const { data } of kopeck.events.read({
    signal: leave.signal,
    onError: error => failures.push(error),
    pollMs: 500,
  })) {
    seen.push(data.id);
    if (seen.length === 3) leave.abort();
  }
  expect(seen).toEqual(made);
  expect(failures.map(({ code }) => code)).toEqual(Array(3).fill('connection_failed'));
  expect(naps[0]).toBe(500);
  expect(naps[1]).toBeGreaterThanOrEqual(2_000);
  expect(naps[3]).toBeGreaterThanOrEqual(8_000);
});

test('an error that a retry cannot fix ends it', async () => {
  const unauthorized = new Kopeck({ apiKey: 'svc_test_nobody_nothing', baseUrl: address });
  await expect(unauthorized.events.read()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    status: 401,
  });
});
