import type { Random } from '../helpers/random.ts';

/** Normal operation: accepted payments end, and nothing is lost. Each is a probability, every time it could happen. */
export const noFaults = {
  /** A statement fails for its caller, whether or not it ran; writes fail three times as often. */
  databaseError: 0,
  databaseSlow: 0,
  messageLost: 0,
  answerLost: 0,
  /** The caller notices at once that a message was lost, and not only at its timeout. */
  noticed: 0.5,
  /** A message arrives after the caller's timeout. */
  messageLate: 0,
  /** A request to pay arrives up to ten minutes later; in runs where the database goes back. */
  orderLate: 0,
  /** A request to pay arrives a second time, later. */
  messageTwice: 0,
  answerUnreadable: 0,
  refusal: 0,
  acceptedLater: 0.3,
  /** An accepted order stays so for hours. */
  heldForHours: 0,
  declined: 0.3,
  /** The bank side gives a false answer, against its contract. */
  lie: 0,
  unresolvable: 0,
  /** A running process is presumed dead. */
  presumedDead: 0,
  /** How often the clock of a machine jumps in the first ten minutes of a process; no probability. */
  clockJumps: 0,
};
export type Faults = typeof noFaults;

/**
 * Every seed has its own mixture: most faults are off and a few are frequent, so that each is tested alone, together
 * with others, and often enough to do harm.
 */
export function drawFaults(random: Random, { lastsForHours }: { lastsForHours: boolean }): Faults {
  const sometimes = (max: number, offShare = 0.5) =>
    random.chance(offShare) ? 0 : (max * random.between(1, 4)) / 4;
  return {
    databaseError: sometimes(0.08, 0.4),
    databaseSlow: sometimes(0.1),
    messageLost: sometimes(0.2),
    answerLost: sometimes(0.3),
    noticed: 0.5,
    messageLate: sometimes(0.2),
    orderLate: 0,
    messageTwice: sometimes(0.3),
    answerUnreadable: sometimes(0.2),
    refusal: sometimes(0.4),
    acceptedLater: lastsForHours ? 0.7 : sometimes(0.8, 0.3),
    heldForHours: lastsForHours ? 0.4 : 0,
    declined: random.between(0, 6) / 10,
    lie: sometimes(0.4, 0.65),
    unresolvable: sometimes(0.1),
    presumedDead: sometimes(0.3, 0.8),
    clockJumps: random.pick([0, 0, 1, 4]),
  };
}
