import { hostname } from 'node:os';
import { test as base, expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { DatabaseClock } from '../../src/db/postgres/database-clock.ts';
import { startClockWatch } from '../../src/runtime/clock-watch.ts';

/** One round per call, with the clock of the machine off by so much. */
const test = base.extend('machine', () => {
  const calls: string[] = [];
  let offset = { ms: 0, uncertaintyMs: 0 };
  let monotonicMs = 0;
  let isStored = true;
  let wake = () => {};
  const clock: DatabaseClock = {
    ...systemClock,
    nowMs: () => 0,
    monotonicMs: () => monotonicMs,
    measure: send => send(),
    uncertaintyMs: () => 0,
    offset: () => offset,
    sleep: (_ms, signal) =>
      new Promise(resolve => {
        wake = resolve;
        signal?.addEventListener('abort', () => resolve());
      }),
  };
  const alarms = {
    raise: async ({ kind, subject, detail }: Record<'kind' | 'subject' | 'detail', string>) => {
      expect([kind, subject]).toEqual(['clock_offset', hostname()]);
      calls.push(detail);
      return isStored;
    },
    clear: async () => void calls.push('cleared'),
    report: async () => {},
  };
  const stop = startClockWatch({ clock, alarms, heartbeat: { instance: 7 } });
  return {
    stop,
    /** What the watch did in one round, `laterMs` after the last. */
    round: async (ms: number, { uncertaintyMs = 0, laterMs = 1_000, stores = true } = {}) => {
      await new Promise(setImmediate);
      calls.length = 0;
      offset = { ms, uncertaintyMs };
      monotonicMs += laterMs;
      isStored = stores;
      wake();
      await new Promise(setImmediate);
      return calls.map(call => call.replace(/^.*machine is (.*?) the database's.*$/, '$1'));
    },
  };
});

test('an alarm above 2 s, cleared below 1 s, renewed each minute', async ({ machine: { round, stop } }) => {
  expect(await round(1_900)).toEqual([]);
  expect(await round(2_100)).toEqual(['2.1 s ahead of']);
  expect(await round(1_500)).toEqual([]);
  expect(await round(-3_000)).toEqual([]);
  expect(await round(-3_000, { laterMs: 60_000 })).toEqual(['3.0 s behind']);
  expect(await round(900)).toEqual(['cleared']);
  expect(await round(900)).toEqual([]);
  await stop();
});

test('an uncertain measurement raises nothing', async ({ machine: { round, stop } }) => {
  expect(await round(5_000, { uncertaintyMs: 4_000 })).toEqual([]);
  await stop();
});

test('an alarm that could not be stored is raised again', async ({ machine: { round, stop } }) => {
  expect(await round(5_000, { stores: false })).toEqual(['5.0 s ahead of']);
  expect(await round(5_000)).toEqual(['5.0 s ahead of']);
  expect(await round(5_000)).toEqual([]);
  await stop();
});
