import { afterAll, describe, expect, test, vi } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { createBreaker } from '../../src/gateway/breaker.ts';
import { createHttpGateway } from '../../src/gateway/index.ts';
import { manualClock } from '../helpers/clock.ts';
import type { Random } from '../helpers/random.ts';
import { createRandom } from '../helpers/random.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';
import { newRequester } from './orders.ts';

interface Event {
  atMs: number;
  run: () => void;
}

/** Time that passes from one event to the next. */
function createTime() {
  let nowMs = 0;
  const events: Event[] = [];
  const at = (inMs: number, run: () => void) => {
    const event = { atMs: nowMs + inMs, run };
    const next = events.findIndex(({ atMs }) => atMs > event.atMs);
    events.splice(next === -1 ? events.length : next, 0, event);
  };
  const sleep = (ms: number) => new Promise<void>(resolve => at(ms, resolve));
  const clock: Clock = { ...systemClock, nowMs: () => nowMs, monotonicMs: () => nowMs, sleep };
  async function passUntil(untilMs: number): Promise<void> {
    while (events.length > 0 && events[0]!.atMs <= untilMs) {
      const event = events.shift()!;
      nowMs = event.atMs;
      event.run();
      // What awaits this event goes on before the next one.
      for (let turn = 0; turn < 4; turn++) await null;
    }
    nowMs = untilMs;
  }
  return { clock, at, passUntil };
}

interface Callers {
  /** Partners whose codes all work, and how long each of them pauses. */
  good: number;
  pauseMs: number;
  /** Partners whose codes all fail, after how long, and from how many codes each of them takes one. */
  bad: number;
  failsAfterMs: number;
  badCodes: number;
}

/** A circuit breaker with partners that call all the time. Calls without a source work as long as `isListing` says so. */
function startCallers(random: Random, callers: Callers) {
  const { clock, at, passUntil } = createTime();
  const isOpenAt: { atMs: number; isOpen: boolean }[] = [];
  /** What a test changes as time passes. */
  const bank = { isListing: true, isFixed: false };
  const breaker = createBreaker({
    clock,
    signal: new AbortController().signal,
    onChange: isOpen => isOpenAt.push({ atMs: clock.monotonicMs(), isOpen }),
    check: () =>
      new Promise<void>(resolve =>
        at(20, () => {
          if (bank.isListing) breaker.onSuccess();
          else breaker.onFailure(undefined, true);
          resolve();
        }),
      ),
  });
  const calls = { good: { made: 0, refused: 0 }, bad: { made: 0, refused: 0 } };
  const call = (kind: 'good' | 'bad', source: { partner: string; qr: string }) => {
    calls[kind].made += 1;
    if (!breaker.allowsCall(source)) calls[kind].refused += 1;
    else if (kind === 'good' || bank.isFixed) at(random.between(5, 200), breaker.onSuccess);
    else at(callers.failsAfterMs, () => breaker.onFailure(source, true));
  };
  const again = (ms: number, run: () => void) =>
    at(random.between(1, ms), () => {
      run();
      again(ms, run);
    });
  for (let index = 0; index < callers.good; index++)
    again(2 * callers.pauseMs, () => {
      const partner = `good ${index}`;
      // A shop has several customers at once.
      for (let nth = 0; nth < random.between(1, 3); nth++)
        call('good', { partner, qr: `${random.between(0, 1e9)}` });
    });
  for (let index = 0; index < callers.bad; index++)
    again(200, () => {
      const partner = `bad ${index}`;
      call('bad', { partner, qr: `${partner} ${random.between(1, callers.badCodes)}` });
    });
  return { breaker, calls, bank, isOpenAt, passUntil };
}

/** Bad codes that fail at once, late, and at the deadline of a call; one code, some, and always another. */
const kinds = [0, 300, 10_000].flatMap(failsAfterMs =>
  [1, 4, 1e9].map(badCodes => ({ failsAfterMs, badCodes })),
);
/** Of n partners, k have bad codes; the others pay all the time, or seldom. */
const shares = [2, 3, 8].flatMap(all =>
  Array.from({ length: all - 1 }, (_, index) => index + 1).flatMap(bad =>
    [100, 15_000].map(pauseMs => ({ bad, good: all - bad, pauseMs })),
  ),
);
const noGood = { good: 0, pauseMs: 1 };

describe('the circuit breaker', () => {
  test.each(kinds)(
    'refuses no partner for bad codes of others: $badCodes, after $failsAfterMs ms',
    async kind => {
      const refused = [];
      for (const [seed, share] of shares.entries()) {
        const { calls, passUntil } = startCallers(createRandom(seed), { ...kind, ...share });
        await passUntil(40_000);
        expect(calls.good.made).toBeGreaterThan(0);
        if (calls.good.refused > 0) refused.push({ ...share, ...calls.good });
      }
      expect(refused).toEqual([]);
    },
  );

  test.each([2, 3, 8])(
    'opens when none of %i partners gets an answer, and closes when they do',
    async bad => {
      for (const seed of [1, 2, 3]) {
        const callers = { ...noGood, bad, failsAfterMs: 300, badCodes: 1e9 };
        const { calls, bank, isOpenAt, passUntil } = startCallers(createRandom(seed), callers);
        await passUntil(60_000);
        expect(isOpenAt).toEqual([{ atMs: expect.any(Number), isOpen: true }]);
        expect(isOpenAt[0]!.atMs).toBeLessThan(6_000);
        // While it is open, each partner tries every two seconds.
        expect(calls.bad.made - calls.bad.refused).toBeLessThan(bad * (100 + 27));
        bank.isFixed = true;
        await passUntil(65_000);
        expect(isOpenAt.at(-1)).toMatchObject({ isOpen: false });
      }
    },
  );

  test('opens at once when a call fails that no partner can have caused', async () => {
    const callers = { ...noGood, bad: 1, failsAfterMs: 0, badCodes: 1 };
    const { bank, isOpenAt, passUntil } = startCallers(createRandom(1), callers);
    bank.isListing = false;
    await passUntil(4_000);
    expect(isOpenAt).toMatchObject([{ isOpen: true }]);
  });

  test('lets a partner whose code works try while those whose code fails ask all the time', async () => {
    const callers = { ...noGood, bad: 8, failsAfterMs: 300, badCodes: 1 };
    const { breaker, isOpenAt, passUntil } = startCallers(createRandom(1), callers);
    await passUntil(20_000);
    expect(isOpenAt).toMatchObject([{ isOpen: true }]);
    const other = { partner: 'bad 0', qr: 'a code that works' };
    // One of the eight, which has failed too: its turn is not taken by the bad codes of the others, nor by its own.
    expect(breaker.allowsCall(other)).toBe(true);
    expect(breaker.allowsCall(other)).toBe(false);
  });

  /** Open, with partners who have all failed. `askAll` counts the tries in two seconds in which all of them ask. */
  async function openForMany() {
    const callers = { ...noGood, bad: 0, failsAfterMs: 0, badCodes: 1 };
    const { breaker, bank, isOpenAt, passUntil } = startCallers(createRandom(1), callers);
    const partners = Array.from({ length: 500 }, (_, index) => `partner ${index}`);
    const openedMs = 6_000;
    await passUntil(openedMs);
    for (const partner of partners) breaker.onFailure({ partner, qr: `a code of ${partner}` }, true);
    expect(isOpenAt).toEqual([{ atMs: openedMs, isOpen: true }]);
    const triesOf = new Map(partners.map(partner => [partner, 0]));
    async function askAll(interval: number): Promise<number> {
      let tries = 0;
      for (let afterMs = 0; afterMs < 2_000; afterMs += 200) {
        await passUntil(openedMs + 2_000 * interval + afterMs);
        // Always in the same order: who asks first gets no second turn before the others had one.
        for (const partner of partners)
          if (breaker.allowsCall({ partner, qr: `${interval} ${afterMs} ${partner}` })) {
            tries += 1;
            triesOf.set(partner, triesOf.get(partner)! + 1);
          }
      }
      return tries;
    }
    return { bank, isOpenAt, triesOf, askAll };
  }

  test('lets few of many partners try in each interval, one after the other', async () => {
    const { isOpenAt, triesOf, askAll } = await openForMany();
    const tries = [];
    for (let interval = 0; interval <= 100; interval++) tries.push(await askAll(interval));
    expect(tries).toEqual([0, ...Array(100).fill(10)]);
    expect(new Set(triesOf.values())).toEqual(new Set([2]));
    expect(isOpenAt).toHaveLength(1);
  });

  test('lets few try at once, also of many who come late', async () => {
    const { bank, askAll } = await openForMany();
    bank.isListing = false;
    await askAll(0);
    expect([await askAll(100), await askAll(101), await askAll(102)]).toEqual([20, 20, 20]);
  });
});

test.each([
  ['are late', { kind: 'stall' }],
  ['get an error', { kind: 'http_error', status: 500 }],
])(
  'two partners with four codes that %s do not close a simulated bank to a third one',
  async (_name, fault) => {
    const simulator = await openSimulator();
    const clock = manualClock();
    const onReachable = vi.fn();
    const options = { url: simulator.address, token: undefined, onReachable, resolveTimeoutMs: 1_500 };
    const gateway = createHttpGateway({ ...options, clock });
    afterAll(gateway.close);
    const bad = await Promise.all([1, 2, 3, 4].map(() => makeQr(simulator)));
    for (const qr of bad) await qr.fault({ on: 'resolve', ...fault });
    const good = await makeQr(simulator);
    const [one, other, third] = [newRequester(), newRequester(), newRequester()];
    const resolveAll = async (calls: Promise<{ outcome: string }>[]) =>
      (await Promise.all(calls)).map(({ outcome }) => outcome);
    const resolveBad = () => {
      const calls = bad.flatMap(qr => [one, other, one, other].map(who => gateway.resolve(qr.link, who)));
      // Only those that are late wait for their deadline.
      return fault.kind === 'stall' ? clock.during(resolveAll(calls)) : resolveAll(calls);
    };

    // Nobody else has called for some seconds.
    await clock.advance(20_000);
    expect(await resolveBad()).not.toContain('resolved');
    expect(onReachable.mock.calls).toEqual([[false]]);
    const calls = [1, 2, 3].map(() => gateway.resolve(good.link, third));
    expect(await resolveAll(calls)).toEqual(['resolved', 'resolved', 'resolved']);
    expect(onReachable.mock.calls).toEqual([[false], [true]]);

    // The third one pays all the time: the others do not open it.
    await resolveBad();
    expect(onReachable.mock.calls).toEqual([[false], [true]]);
  },
);
