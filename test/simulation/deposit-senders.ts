import type { Random } from '../helpers/random.ts';
import type { Transfer } from './chain.ts';
import { countFault } from './chain-faults.ts';
import { contract } from './chain-nodes.ts';
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
