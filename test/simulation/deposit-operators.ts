import type { Clock } from '../../src/base/clock.ts';
import { idFromUuid } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/pool.ts';
import type { DepositChain } from '../../src/deposits/chain/deposit-chain.ts';
import { NodeError } from '../../src/deposits/chain/node-error.ts';
import { type DepositDecision, decideDeposit, rewindChain } from '../../src/deposits/index.ts';
import type { Random } from '../helpers/random.ts';
import type { Block, SimulatedChain } from './chain.ts';
import { countFault } from './chain-nodes.ts';
import { isLockTimeout } from './deposit-senders.ts';
import type { History } from './histories.ts';
import { expectLostConnection } from './joining.ts';
import type { World } from './world.ts';

/** A process through which operators decide. It may be stalled or dead. */
export interface Console {
  pool: Pool;
  clock: Clock;
  chain: DepositChain;
  history: History;
}

/** A process stalls for less. */
const longestStallMs = 300_000;

interface Parts {
  random: Random;
  chain: SimulatedChain;
  uuids: string[];
  /** The chain is watched from here on. */
  firstBlock: number;
  /** Of the present history. */
  consoles(): Console[];
}

/** Operators decide on held deposits, and put the cursor back, after a reorganisation below what was final or for no reason. */
export function createDepositOperators(world: World, { random, chain, uuids, firstBlock, consoles }: Parts) {
  const { scheduler, trace, violate } = world;
  const decided = new Set<string>();

  async function findHeld({ pool }: Console): Promise<{ id: string; key: string } | undefined> {
    // In an order that does not depend on ids, which are different in every run.
    const { rows } = await pool.query<{ id: string; key: string }>({
      text: `SELECT id, transaction || ' ' || partner_id || ' ' || ordinal AS key FROM deposits
              WHERE state = 'held' AND partner_id = ANY ($1) ORDER BY block_number, transaction, partner_id, ordinal`,
      values: [uuids],
    });
    // Often the oldest one, so that two operators decide on the same.
    return random.chance(0.7) || rows.length === 0 ? rows[0] : random.pick(rows);
  }

  async function decideOnOne(console: Console): Promise<void> {
    const held = await findHeld(console);
    if (!held) return;
    const outcome: DepositDecision['outcome'] = random.pick(['credited', 'credited', 'rejected']);
    decided.add(`${held.key} ${outcome}`);
    const audit = { pool: console.pool, clock: console.clock, actor: 'operator' };
    const result = await decideDeposit(audit, idFromUuid('dep', held.id), { outcome, reason: 'checked' });
    trace.add('operator', `decides on a deposit: ${outcome}, ${result}`);
    if (result !== 'done' && result !== 'not_held' && result !== 'too_large')
      violate('a held deposit can be decided on', result);
  }

  /** The last block that the cursor and the chain have in common. */
  async function findCommon({ pool }: Console): Promise<{ common: Block; isReplaced: boolean }> {
    const { rows } = await pool.query<{ hash: string }>({
      text: 'SELECT cursor_hash AS hash FROM deposit_chains',
    });
    const cursor = chain.find(rows[0]!.hash)!;
    let common: Block = cursor;
    while (!chain.isOnChain(common)) common = common.parent!;
    return { common, isReplaced: common !== cursor };
  }

  /** Never to a block above the common one: what is in other blocks up to there would not be read. */
  async function rewind(console: Console, choose: (common: number) => number): Promise<void> {
    const { pool, clock, chain: watched } = console;
    const { common } = await findCommon(console);
    const block = choose(common.number);
    const audit = { pool, clock, actor: 'operator' };
    const { outcome } = await rewindChain(audit, watched, { block: BigInt(block), reason: 'checked' });
    trace.add('operator', `puts the cursor back to block ${block}: ${outcome}`);
    if (outcome === 'done') countFault(world, 'rewound');
    if (outcome === 'not_watched') violate('a chain that is watched can be put back', outcome);
  }

  async function rewindReplaced(console: Console): Promise<void> {
    if ((await findCommon(console)).isReplaced)
      await rewind(console, common => Math.max(firstBlock, common - random.between(0, 3)));
  }

  async function attempt(act: (console: Console) => Promise<void>): Promise<void> {
    const [console] = random.shuffle(consoles());
    await (console && act(console))?.catch(error => {
      if (!(error instanceof NodeError) && !isLockTimeout(error)) expectLostConnection(world, error);
    });
  }

  /** By when each has ended at the latest, or with its process. */
  const rewinds = new Set<{ untilMs: number }>();
  function attemptRewind(act: (console: Console) => Promise<void>): void {
    const rewinding = { untilMs: scheduler.nowMs() + longestStallMs };
    rewinds.add(rewinding);
    void attempt(act).then(() => rewinds.delete(rewinding));
  }

  return {
    /** Sometimes two decide at the same time. */
    decide: () => {
      for (let left = random.pick([1, 2]); left > 0; left--) void attempt(decideOnOne);
    },
    rewind: () => attemptRewind(console => rewind(console, common => random.between(firstBlock, common))),
    rewindWholly: () => attemptRewind(console => rewind(console, () => firstBlock)),
    rewindIfReplaced: () => attemptRewind(rewindReplaced),
    /** Nobody knows how far to put the cursor back while the chain changes below it. */
    isRewinding: () => [...rewinds].some(({ untilMs }) => scheduler.nowMs() < untilMs),
    isDecided: (key: string, outcome: DepositDecision['outcome']) => decided.has(`${key} ${outcome}`),
  };
}
