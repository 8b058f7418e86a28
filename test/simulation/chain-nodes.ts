import type { ChainNode, TransferLog } from '../../src/deposits/chain/node.ts';
import { NodeError } from '../../src/deposits/chain/node-error.ts';
import type { Random } from '../helpers/random.ts';
import type { SimulatedChain } from './chain.ts';
import type { World } from './world.ts';

export interface NodeBehaviour {
  /** Of two nodes, the one that lies. */
  liar: number | undefined;
  /** Probability that a call fails. */
  failing: number;
  /** Probability that an answer is of a chain some blocks ago. */
  behind: number;
  /** Probability that the liar lies. */
  lying: number;
  /** One that lies about everything contradicts itself in most rounds, and is seldom believed. */
  liesAboutBlocks: boolean;
}

/** The accounts that a liar may name. */
interface Parts {
  chain: SimulatedChain;
  random: Random;
  behaviour: NodeBehaviour;
  accounts: string[];
}

export const contract = `0x${'c'.repeat(40)}`;
const decimals = 6;

/** A node as one process sees it. Every call is a message of its own: the chain may change between two of them. */
export function createNode(
  { scheduler }: World,
  processName: string,
  nth: number,
  { chain, random, behaviour, accounts }: Parts,
): ChainNode {
  const label = `node ${nth + 1}`;
  const isFaulty = () => behaviour.failing + behaviour.behind + behaviour.lying > 0;
  const lies = () => nth === behaviour.liar && random.chance(behaviour.lying);
  const liesAboutBlocks = () => behaviour.liesAboutBlocks && lies();

  const call = <Result>(answer: () => Result): Promise<Result> =>
    new Promise((resolve, reject) => {
      const isSlow = isFaulty() && random.chance(0.03);
      const delayMs = isSlow ? random.between(1_000, 90_000) : random.between(0, 200);
      const run = () => {
        if (random.chance(behaviour.failing))
          return reject(new NodeError(`The ${label} refused the request.`, random.chance(0.7)));
        try {
          resolve(answer());
        } catch (error) {
          reject(error);
        }
      };
      scheduler.after(delayMs, { processName, run });
    });

  let known = 0;
  /** The logs that were asked for last, as this node gave them. */
  let given: TransferLog[] = [];
  /**
   * The last block that this node knows. It can be behind the others, but does not forget: logs of a node that had the last
   * block of a range are complete.
   */
  const head = () => {
    const isBehind = random.chance(behaviour.behind);
    known = Math.max(known, chain.head().number - (isBehind ? random.between(1, 6) : 0));
    return known;
  };

  const falseHash = () =>
    `0x${random
      .between(0, 2 ** 31)
      .toString(16)
      .padStart(64, 'e')}`;

  function block(at: bigint | 'finalized' | 'latest') {
    const last = head();
    const final = Math.min(last, chain.finalNumber());
    const wanted =
      at === 'latest' ? last : at === 'finalized' ? (liesAboutBlocks() ? last : final) : Number(at);
    const found = wanted <= last ? chain.blocks[wanted] : undefined;
    if (!found) throw new NodeError(`The ${label} does not have the block ${wanted}.`);
    const { number, hash, atMs } = found;
    return { number: BigInt(number), hash: liesAboutBlocks() ? falseHash() : hash, atMs };
  }

  /** Hides logs, invents one, or changes who gets how much. */
  function falsify(logs: TransferLog[]): TransferLog[] {
    switch (random.pick(['hide', 'invent', 'amount', 'account'] as const)) {
      case 'hide':
        return logs.filter(() => random.chance(0.5));
      case 'amount':
        return logs.map(log => ({ ...log, units: log.units + 1_000_000n }));
      case 'account':
        return logs.map(log => ({ ...log, account: random.pick(accounts) }));
      case 'invent': {
        const at = random.pick(chain.blocks.slice(-8));
        const place = {
          blockNumber: BigInt(at.number),
          blockHash: at.hash,
          transaction: falseHash(),
          logIndex: 0,
        };
        return [
          ...logs,
          { ...place, contract, sender: contract, account: random.pick(accounts), units: 5_000_000n },
        ];
      }
    }
  }

  return {
    label,
    chainId: () => call(() => 1),
    decimals: () => call(() => decimals),
    balance: () => Promise.reject(new Error('nobody asks for a balance')),
    block: at => call(() => block(at)),
    logs: ({ fromBlock, toBlock }) =>
      call(() => {
        // Logs of other contracts, accounts and blocks come along: what counts is for the watcher to decide.
        const logs = chain.blocks
          .slice(Math.max(0, Number(fromBlock) - 1), Math.min(Number(toBlock), head()) + 1)
          .flatMap(chain.logsOf);
        given = lies() ? falsify(logs) : logs;
        return given;
      }),
    receipt: transaction =>
      call(() => {
        const found = chain.blocks.find(({ transactions }) =>
          transactions.some(({ hash }) => hash === transaction),
        );
        // A liar does not contradict itself: only the other node can show that it lies.
        const logs = nth === behaviour.liar ? given : found ? chain.logsOf(found) : [];
        const transfers = logs.filter(log => log.transaction === transaction);
        if (transfers.length === 0) throw new NodeError(`The ${label} does not have the transaction.`);
        return { isSuccess: true, transfers };
      }),
  };
}
