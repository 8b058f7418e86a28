import { createHash } from 'node:crypto';
import type { Random } from '../helpers/random.ts';

export interface Transfer {
  contract: string;
  account: string;
  units: bigint;
}

export interface Transaction {
  hash: string;
  transfers: Transfer[];
}

export interface Block {
  number: number;
  hash: string;
  parent: Block | undefined;
  atMs: number;
  transactions: Transaction[];
}

/** The real state of a chain: its blocks, which can be replaced above the final one, and seldom below it. */
export interface SimulatedChain {
  /** The present ones. */
  blocks: Block[];
  head(): Block;
  /** Grows only, whatever is replaced. */
  finalNumber(): number;
  /** All blocks that were final at any time. */
  everFinal: ReadonlySet<Block>;
  /** A block that is or was on the chain. */
  find(hash: string): Block | undefined;
  isOnChain(block: Block): boolean;
  mine(transfers: Transfer[][]): void;
  /** Replaces blocks that are not final by at least as many. Their transactions come again in another order, or never. */
  reorganise(): void;
  /** The same with final blocks, down to `lowest` at most. A transaction that comes again may do something else. */
  reorganiseFinal(lowest: number): void;
  /** Grows with every change. */
  version(): number;
}

export const sender = `0x${'a'.repeat(40)}`;

export function createSimulatedChain(
  random: Random,
  { name, nowMs }: { name: string; nowMs: () => number },
): SimulatedChain {
  const notFinal = random.between(1, 4);
  const blocks: Block[] = [];
  const byHash = new Map<string, Block>();
  const everFinal = new Set<Block>();
  let [made, finalNumber, version] = [0, 0, 0];

  /** In the same order in every run of a seed, and different in every run: earlier ones are in the same database. */
  const newHash = (what: string) => {
    made += 1;
    const digest = createHash('sha256').update(`${what} ${made}`).digest('hex');
    return `0x${digest.slice(0, 48)}${name.padStart(16, '0')}`;
  };

  function append(transactions: Transaction[]): void {
    const number = blocks.length;
    const block = { number, hash: newHash('block'), parent: blocks.at(-1), atMs: nowMs(), transactions };
    blocks.push(block);
    byHash.set(block.hash, block);
    finalNumber = Math.max(finalNumber, number - notFinal);
    for (const each of blocks.slice(0, finalNumber + 1)) everFinal.add(each);
    version += 1;
  }

  function replaceLast(depth: number, change: (transaction: Transaction) => Transaction): void {
    const replaced = blocks.splice(-depth).flatMap(({ transactions }) => transactions);
    const again = random.shuffle(replaced.filter(() => random.chance(0.8))).map(change);
    const count = depth + random.between(0, 1);
    for (let left = count; left > 0; left--)
      append(again.splice(0, left === 1 ? again.length : random.between(0, again.length)));
  }

  /** What a contract does depends on what was before it. */
  function doOtherwise({ hash, transfers }: Transaction): Transaction {
    const [first, ...others] = transfers;
    switch (random.pick(['same', 'more', 'more', 'fewer', 'amount'] as const)) {
      case 'more':
        return { hash, transfers: [...transfers, ...transfers] };
      case 'fewer':
        return { hash, transfers: others };
      case 'amount':
        return { hash, transfers: [{ ...first!, units: first!.units * 2n }, ...others] };
      default:
        return { hash, transfers };
    }
  }

  for (let count = 0; count < 6; count++) append([]);

  return {
    blocks,
    head: () => blocks.at(-1)!,
    finalNumber: () => finalNumber,
    everFinal,
    find: hash => byHash.get(hash),
    isOnChain: block => blocks[block.number] === block,
    mine: transfers => append(transfers.map(each => ({ hash: newHash('transaction'), transfers: each }))),
    reorganise: () => replaceLast(random.between(1, blocks.length - 1 - finalNumber), each => each),
    reorganiseFinal: lowest => {
      const kept = random.between(lowest, finalNumber - 1);
      replaceLast(blocks.length - 1 - kept, each => (each.transfers.length === 0 ? each : doOtherwise(each)));
    },
    version: () => version,
  };
}
