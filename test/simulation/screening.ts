import type { Clock } from '../../src/base/clock.ts';
import { idFromUuid } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/pool.ts';
import { type DepositDecision, decideDeposit } from '../../src/deposits/index.ts';
import type { Screen } from '../../src/deposits/screening/ask.ts';
import type { Random } from '../helpers/random.ts';
import { expectLostConnection } from './joining.ts';
import type { World } from './world.ts';

/** A process through which operators decide. */
export interface Console {
  pool: Pool;
  clock: Clock;
}

export interface Screening {
  /** The service as a process asks it. */
  screenOf(processName: string): Screen;
  /** An operator looks for a held deposit, and credits or rejects it. */
  decideOnOne(console: Console): Promise<void>;
  stopFaults(): void;
  /** By key of the deposit: the service has allowed it, an operator has sent this decision. */
  isAllowed(key: string): boolean;
  isDecided(key: string, outcome: DepositDecision['outcome']): boolean;
}

/** Longer than the service waits for an answer. */
const timeoutMs = 10_000;

/** The screening service, and the operators who decide on what it holds. */
export function createScreening(world: World, random: Random, uuids: string[]): Screening {
  const { scheduler, trace, violate } = world;
  const holding = random.pick([0.2, 0.5]);
  let silent = random.pick([0, 0.1, 0.3]);
  /** It gives the same answer every time, if it gives one. */
  const answers = new Map<string, 'allow' | 'hold'>();
  const allowed = new Set<string>();
  const decided = new Set<string>();

  async function findHeld({ pool }: Console): Promise<{ id: string; key: string } | undefined> {
    // In an order that does not depend on ids, which are different in every run.
    const { rows } = await pool.query<{ id: string; key: string }>({
      text: `SELECT id, transaction || ' ' || log_index AS key FROM deposits
              WHERE state = 'held' AND partner_id = ANY ($1) ORDER BY block_number, log_index`,
      values: [uuids],
    });
    // Often the oldest one, so that two operators decide on the same.
    return random.chance(0.7) || rows.length === 0 ? rows[0] : random.pick(rows);
  }

  async function decide({ pool, clock }: Console, id: string, outcome: DepositDecision['outcome']) {
    const audit = { pool, clock, actor: 'operator' };
    const result = await decideDeposit(audit, idFromUuid('dep', id), { outcome, reason: 'checked' });
    trace.add('operator', `decides on a deposit: ${outcome}, ${result}`);
    if (result !== 'done' && result !== 'not_held') violate('a held deposit can be decided on', result);
  }

  return {
    screenOf: processName => deposit =>
      new Promise(resolve => {
        const key = `${deposit.transaction} ${deposit.logIndex}`;
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
    decideOnOne: async console => {
      try {
        const held = await findHeld(console);
        if (!held) return;
        const outcome = random.pick(['credited', 'credited', 'rejected'] as const);
        decided.add(`${held.key} ${outcome}`);
        await decide(console, held.id, outcome);
      } catch (error) {
        expectLostConnection(world, error);
      }
    },
    stopFaults: () => {
      silent = 0;
    },
    isAllowed: key => allowed.has(key),
    isDecided: (key, outcome) => decided.has(`${key} ${outcome}`),
  };
}
