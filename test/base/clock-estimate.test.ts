import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addSample, type ClockEstimate, remoteTime, uncertaintyAt } from '../../src/base/clock-estimate.ts';

const sampleAt = (sentMs: number, receivedMs: number, remoteMs: number) => ({ sentMs, receivedMs, remoteMs });

test('one sample: half of the round trip, with half of it as uncertainty', () => {
  const estimate = addSample(undefined, sampleAt(1_000, 1_010, 500_000));
  expect(remoteTime(estimate, 1_010)).toBeCloseTo(500_005, 1);
  expect(uncertaintyAt(estimate, 1_010)).toBeCloseTo(5, 1);
});

test('a slow answer does not spoil a good estimate', () => {
  const good = addSample(undefined, sampleAt(1_000, 1_002, 500_001));
  const slow = addSample(good, sampleAt(2_000, 8_000, 501_000));
  expect(remoteTime(slow, 8_000)).toBeCloseTo(507_000, -1);
  expect(uncertaintyAt(slow, 8_000)).toBeLessThan(10);
});

test.each([
  ['this machine was suspended', 3_600_000],
  ['the remote clock was set back', -3_600_000],
])('a sample that contradicts the estimate replaces it: %s', (_why, stepMs) => {
  const before = addSample(undefined, sampleAt(1_000, 1_002, 500_001));
  const after = addSample(before, sampleAt(2_000, 2_002, 501_001 + stepMs));
  expect(remoteTime(after, 2_002)).toBeCloseTo(501_002 + stepMs, 0);
  expect(uncertaintyAt(after, 2_002)).toBeLessThan(2);
});

test('without samples the uncertainty grows', () => {
  const estimate = addSample(undefined, sampleAt(0, 0, 0));
  expect(uncertaintyAt(estimate, 60_000)).toBeCloseTo(60);
});

const history = fc.record({
  /** How much faster the remote clock runs than the monotonic one, in millionths. */
  driftPpm: fc.integer({ min: -900, max: 900 }),
  originMs: fc.double({ min: -1e9, max: 1e9, noNaN: true }),
  samples: fc.array(
    fc.record({
      pauseMs: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 3_600_000 })),
      thereMs: fc.oneof(fc.double({ min: 0, max: 5, noNaN: true }), fc.integer({ min: 0, max: 120_000 })),
      backMs: fc.oneof(fc.double({ min: 0, max: 5, noNaN: true }), fc.integer({ min: 0, max: 120_000 })),
      readAfterMs: fc.integer({ min: 0, max: 600_000 }),
    }),
    { minLength: 1, maxLength: 20 },
  ),
});

test('whatever the delays, stalls and drift: the error is never above the uncertainty', () => {
  fc.assert(
    fc.property(history, ({ driftPpm, originMs, samples }) => {
      const remoteAt = (monotonicMs: number) => originMs + monotonicMs * (1 + driftPpm / 1e6);
      let nowMs = 0;
      let estimate: ClockEstimate | undefined;
      for (const { pauseMs, thereMs, backMs, readAfterMs } of samples) {
        const sentMs = nowMs + pauseMs;
        nowMs = sentMs + thereMs + backMs;
        estimate = addSample(estimate, sampleAt(sentMs, nowMs, remoteAt(sentMs + thereMs)));
        for (const atMs of [nowMs, nowMs + readAfterMs]) {
          const errorMs = Math.abs(remoteTime(estimate, atMs) - remoteAt(atMs));
          expect(errorMs).toBeLessThanOrEqual(uncertaintyAt(estimate, atMs) + 1e-3);
        }
      }
    }),
    { numRuns: 500 },
  );
});
