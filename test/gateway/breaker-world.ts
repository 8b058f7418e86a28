import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createBreaker } from '../../src/gateway/breaker.ts';
import type { Random } from '../helpers/random.ts';

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

export interface Callers {
  /** Partners whose codes all work, and how long each of them pauses. */
  good: number;
  pauseMs: number;
  /** Partners whose codes all fail, after how long, and from how many codes each of them takes one. */
  bad: number;
  failsAfterMs: number;
  badCodes: number;
}

/** A circuit breaker with partners that call all the time. Calls without a source work as long as `isListing` says so. */
export function startCallers(random: Random, callers: Callers) {
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
