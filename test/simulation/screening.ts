import type { Screen } from '../../src/deposits/screening/ask.ts';
import type { Random } from '../helpers/random.ts';
import type { World } from './world.ts';

export interface Screening {
  /** The service as a process asks it. */
  screenOf(processName: string): Screen;
  stopFaults(): void;
  /** The service has allowed the deposit that was asked about so. */
  isAllowed(deposit: { transaction: string; logIndex: number }): boolean;
}

/** Longer than the service waits for an answer. */
const timeoutMs = 10_000;

const keyOf = ({ transaction, logIndex }: { transaction: string; logIndex: number }) =>
  `${transaction} ${logIndex}`;

/** The screening service. */
export function createScreening({ scheduler }: World, random: Random): Screening {
  const holding = random.pick([0.2, 0.5]);
  let silent = random.pick([0, 0.1, 0.3]);
  /** It gives the same answer every time, if it gives one. */
  const answers = new Map<string, 'allow' | 'hold'>();
  const allowed = new Set<string>();

  return {
    screenOf: processName => deposit =>
      new Promise(resolve => {
        const key = keyOf(deposit);
        const answer = answers.get(key) ?? (random.chance(holding) ? 'hold' : 'allow');
        answers.set(key, answer);
        const isSilent = random.chance(silent);
        const delayMs = random.chance(0.1) ? random.between(1_000, 9_000) : random.between(0, 300);
        const run = () => {
          if (answer === 'allow' && !isSilent) allowed.add(key);
          resolve(isSilent ? 'no_answer' : answer);
        };
        scheduler.after(isSilent ? timeoutMs : delayMs, { processName, run });
      }),
    stopFaults: () => {
      silent = 0;
    },
    isAllowed: deposit => allowed.has(keyOf(deposit)),
  };
}
