/** One reading of a remote clock. The reading was made at some moment between the two local ones. */
export interface ClockSample {
  /** Our monotonic clock when the question was sent and when the answer arrived. */
  sentMs: number;
  receivedMs: number;
  remoteMs: number;
}

/** What is known about the remote clock: how far it is ahead of our monotonic clock, at least and at most. */
export interface ClockEstimate {
  measuredMs: number;
  minOffsetMs: number;
  maxOffsetMs: number;
}

/**
 * How fast two clocks may move apart: 1 ms per second. Quartz is better than 100 ppm, and NTP corrects each clock by up to
 * 500 ppm.
 */
const maxDrift = 0.001;

/**
 * The estimate after one more sample, as NTP does it: what both the samples so far and the new one allow. A slow answer
 * allows much and changes little. A sample that contradicts the estimate is right: this machine was suspended, or the
 * remote clock was set.
 */
export function addSample(estimate: ClockEstimate | undefined, sample: ClockSample): ClockEstimate {
  const measured = measure(sample);
  if (!estimate) return measured;
  const before = widen(estimate, sample.receivedMs);
  const both = {
    measuredMs: sample.receivedMs,
    minOffsetMs: Math.max(before.minOffsetMs, measured.minOffsetMs),
    maxOffsetMs: Math.min(before.maxOffsetMs, measured.maxOffsetMs),
  };
  return both.minOffsetMs <= both.maxOffsetMs ? both : measured;
}

function measure({ sentMs, receivedMs, remoteMs }: ClockSample): ClockEstimate {
  const driftMs = maxDrift * (receivedMs - sentMs);
  return {
    measuredMs: receivedMs,
    minOffsetMs: remoteMs - receivedMs,
    maxOffsetMs: remoteMs - sentMs + driftMs,
  };
}

/** The longer ago the last sample, the less is known. */
function widen(estimate: ClockEstimate, atMs: number): ClockEstimate {
  const driftMs = maxDrift * (atMs - estimate.measuredMs);
  return {
    measuredMs: atMs,
    minOffsetMs: estimate.minOffsetMs - driftMs,
    maxOffsetMs: estimate.maxOffsetMs + driftMs,
  };
}

/** The remote time when our monotonic clock shows `atMs`. */
export const remoteTime = ({ minOffsetMs, maxOffsetMs }: ClockEstimate, atMs: number) =>
  atMs + (minOffsetMs + maxOffsetMs) / 2;

/** How far `remoteTime` may be wrong, in either direction. */
export function uncertaintyAt(estimate: ClockEstimate, atMs: number): number {
  const { minOffsetMs, maxOffsetMs } = widen(estimate, atMs);
  return (maxOffsetMs - minOffsetMs) / 2;
}
