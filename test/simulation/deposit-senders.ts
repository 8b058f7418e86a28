import pg from 'pg';
import type { Clock } from '../../src/base/clock.ts';
import { idFromUuid } from '../../src/base/ids.ts';
import type { Pool, Statement } from '../../src/db/postgres/pool.ts';
import type { DepositChain } from '../../src/deposits/chain/deposit-chain.ts';
import { NodeError } from '../../src/deposits/chain/node-error.ts';
import { type DepositDecision, decideDeposit, rewindChain } from '../../src/deposits/index.ts';
import type { Screen } from '../../src/deposits/screening/screen-deposits.ts';
import type { Random } from '../helpers/random.ts';
import { type Block, contract, type SimulatedChain, type Transfer } from './chain.ts';
import { countFault } from './chain-faults.ts';
import type { History } from './histories.ts';
import { expectLostConnection } from './joining.ts';
import type { World } from './world.ts';

interface Parts {
  random: Random;
  /** Of the partners. */
  accounts: string[];
  decimals: number;
  minMicroUsdt(): bigint;
}

/** Those who send to partners: customers, and those who fill blocks with transfers that are worth little or nothing. */
export function createSenders(world: World, { random, accounts, decimals, minMicroUsdt }: Parts) {
  const unitsPerMicro = 10n ** BigInt(decimals - 6);
  const dusty = random.pick([0, 0.2, 0.6]);

  /** With 18 decimals there is a rest that is worth nothing. */
  const unitsOf = (microUsdt: bigint) =>
    microUsdt * unitsPerMicro +
    (unitsPerMicro > 1n && random.chance(0.5) ? BigInt(random.between(1, 10 ** 9)) : 0n);

  function drawUnits(isDust: boolean): bigint {
    if (random.chance(isDust ? 0.2 : 0.05)) {
      countFault(world, 'worth nothing');
      return random.chance(0.5) ? 0n : (unitsPerMicro - 1n) / BigInt(random.between(1, 9));
    }
    if (random.chance(0.01)) {
      countFault(world, 'more than a billion');
      return unitsOf(10n ** BigInt(random.between(16, 25)));
    }
    const microUsdt = isDust ? BigInt(random.between(1, 200_000)) : BigInt(random.between(1, 30)) * 100_000n;
    if (microUsdt < minMicroUsdt()) countFault(world, 'below the smallest amount');
    return unitsOf(microUsdt);
  }

  function drawTransfer(isDust: boolean): Transfer {
    const isOurs = random.chance(isDust ? 0.95 : 0.85);
    return {
      contract: random.chance(0.9) ? contract : `0x${'f'.repeat(40)}`,
      account: isOurs ? random.pick(accounts) : `0x${'b'.repeat(40)}`,
      units: drawUnits(isDust),
    };
  }

  /** More to one account than a node gives in one answer, beside others. */
  function flood(): Transfer[] {
    const account = random.pick(accounts);
    const many = Array.from({ length: random.between(5, 12) }, () => ({
      ...drawTransfer(true),
      contract,
      account,
    }));
    return random.shuffle([...many, drawTransfer(false), drawTransfer(false)]);
  }

  function drawTransaction(): Transfer[] {
    if (!random.chance(dusty)) return Array.from({ length: random.between(1, 3) }, () => drawTransfer(false));
    if (random.chance(0.3)) return flood();
    return Array.from({ length: random.between(2, 8) }, () => drawTransfer(true));
  }

  return {
    /** The transactions of a block. */
    draw: () => Array.from({ length: random.pick([0, 1, 1, 2]) }, drawTransaction),
  };
}

/** Longer than the service waits for an answer. */
const timeoutMs = 10_000;

const keyOf = ({ transaction, logIndex }: { transaction: string; logIndex: number }) =>
  `${transaction} ${logIndex}`;

/** The screening service. */
export function createScreening({ scheduler }: World, random: Random) {
  const holding = random.pick([0.2, 0.5]);
  let silent = random.pick([0, 0.1, 0.3]);
  /** It gives the same answer every time, if it gives one. */
  const answers = new Map<string, 'allow' | 'hold'>();
  const allowed = new Set<string>();

  return {
    /** The service as a process asks it. */
    screenOf:
      (processName: string): Screen =>
      deposit =>
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
    /** The service has allowed the deposit that was asked about so. */
    isAllowed: (deposit: Parameters<typeof keyOf>[0]) => allowed.has(keyOf(deposit)),
  };
}

const message = 'canceling statement due to lock timeout';

/** An account is locked for longer than a credit waits. */
export const isLockTimeout = (error: unknown) => error instanceof Error && error.message.includes(message);

/** Accounts that somebody else locks: a credit to one of them fails, as when its lock timeout is over. */
export function createAccountLocks(world: World, random: Random, uuids: string[]) {
  const { scheduler, trace } = world;
  const lockedUntil = new Map<string, number>();
  const isLocked = (uuid: string) => (lockedUntil.get(uuid) ?? 0) > scheduler.nowMs();

  return {
    isLocked,
    lockOne: () => {
      const uuid = random.pick(uuids);
      lockedUntil.set(uuid, scheduler.nowMs() + random.between(1_000, 120_000));
      trace.add('database', `the account of partner ${uuids.indexOf(uuid) + 1} is locked`);
    },
    stop: () => lockedUntil.clear(),
    refuse: ({ text, values }: Statement): Error | undefined => {
      if (!text.includes('ledger_post') || !(values![0] as string[]).some(isLocked)) return undefined;
      countFault(world, 'account locked');
      return Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code: '55P03' });
    },
  };
}

/** A process through which operators decide. It may be stalled or dead. */
export interface Console {
  pool: Pool;
  clock: Clock;
  chain: DepositChain;
  history: History;
}

/** A process stalls for less. */
const longestStallMs = 300_000;

interface OperatorParts {
  random: Random;
  chain: SimulatedChain;
  uuids: string[];
  /** The chain is watched from here on. */
  firstBlock: number;
  /** Of the present history. */
  consoles(): Console[];
}

/** Operators decide on held deposits, and put the cursor back, after a reorganisation below what was final or for no reason. */
export function createDepositOperators(
  world: World,
  { random, chain, uuids, firstBlock, consoles }: OperatorParts,
) {
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
