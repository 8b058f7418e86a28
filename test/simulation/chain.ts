import { createHash } from 'node:crypto';
import type { TransferLog } from '../../src/deposits/chain/node.ts';
import type { Random } from '../helpers/random.ts';

export interface Transfer {
  contract: string;
  account: string;
  units: bigint;
}

interface Transaction {
  hash: string;
  transfers: Transfer[];
}

interface Block {
  number: number;
  hash: string;
  atMs: number;
  transactions: Transaction[];
}

/** The real state of a chain: its blocks, which can be replaced above the final one. */
export interface SimulatedChain {
  blocks: Block[];
  head(): Block;
  /** Grows only, whatever is replaced. */
  finalNumber(): number;
  logsOf(block: Block): TransferLog[];
  mine(transfers: Transfer[][]): void;
  /** Replaces blocks that are not final by at least as many. Their transactions come again in another order, or never. */
  reorganise(): void;
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
  let [made, finalNumber, version] = [0, 0, 0];

  const newHash = (what: string) => {
    made += 1;
    return `0x${createHash('sha256').update(`${name} ${what} ${made}`).digest('hex')}`;
  };

  function append(transactions: Transaction[]): void {
    blocks.push({ number: blocks.length, hash: newHash('block'), atMs: nowMs(), transactions });
    finalNumber = Math.max(finalNumber, blocks.length - 1 - notFinal);
    version += 1;
  }

  for (let count = 0; count < 6; count++) append([]);

  return {
    blocks,
    head: () => blocks.at(-1)!,
    finalNumber: () => finalNumber,
    logsOf: ({ number, hash, transactions }) => {
      let logIndex = -1;
      return transactions.flatMap(transaction =>
        transaction.transfers.map(transfer => {
          logIndex += 1;
          const place = {
            blockNumber: BigInt(number),
            blockHash: hash,
            transaction: transaction.hash,
            logIndex,
          };
          return { ...place, ...transfer, sender };
        }),
      );
    },
    mine: transfers => append(transfers.map(each => ({ hash: newHash('transaction'), transfers: each }))),
    reorganise: () => {
      const depth = random.between(1, blocks.length - 1 - finalNumber);
      const replaced = blocks.splice(-depth).flatMap(({ transactions }) => transactions);
      const again = random.shuffle(replaced.filter(() => random.chance(0.8)));
      const count = depth + random.between(0, 1);
      for (let left = count; left > 0; left--)
        append(again.splice(0, left === 1 ? again.length : random.between(0, again.length)));
    },
    version: () => version,
  };
}
