import type { Rpc } from '../../src/deposits/chain/json-rpc.ts';
import { type ChainNode, openNode } from '../../src/deposits/chain/node.ts';
import { NodeError } from '../../src/deposits/chain/node-error.ts';
import type { Random } from '../helpers/random.ts';
import {
  accountOfTopic,
  type ChainLog,
  contract,
  encodeLogs,
  logsOf,
  type SimulatedChain,
  toHex,
} from './chain.ts';
import { type ChainFault, countFault, type NodeBehaviour } from './chain-faults.ts';
import type { World } from './world.ts';

interface Parts {
  chain: SimulatedChain;
  random: Random;
  behaviour: NodeBehaviour;
  decimals: number;
  /** The accounts that a liar may name. */
  accounts: string[];
  /** Blocks and accounts that a node refused when it was asked for this account in this block alone. */
  refusedAlone: Set<string>;
}

interface LogFilter {
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
  topics: (string | null | string[])[];
}

/** As in the service. */
const deadlineMs = 10_000;

/** A node may be slow: what it refuses so often in a row it does not give. */
const refusalsBeforeUnread = 6;

/** The block and the account of a question for one of each. */
function loneQuestion(method: string, params: unknown[]): string | undefined {
  if (method !== 'eth_getLogs') return undefined;
  const { fromBlock, toBlock, topics } = params[0] as LogFilter;
  const asked = topics[2] as string[] | undefined;
  return fromBlock !== undefined && fromBlock === toBlock && asked?.length === 1
    ? `${Number(fromBlock)} ${accountOfTopic(asked[0]!)}`
    : undefined;
}

/**
 * A node as one process sees it: the real client, and the answers of JSON-RPC. Every call is a message of its own: the chain
 * may change between two of them.
 */
export function createNode(
  world: World,
  processName: string,
  nth: number,
  { chain, random, behaviour, decimals, accounts, refusedAlone }: Parts,
): ChainNode {
  const { scheduler } = world;
  const label = `node ${nth + 1}`;
  const count = (fault: ChainFault) => countFault(world, fault);
  const lies = () => {
    const isLie = nth === behaviour.liar && random.chance(behaviour.lying);
    if (isLie) count('lied');
    return isLie;
  };
  const liesAboutBlocks = () => behaviour.liesAboutBlocks && lies();

  const rpc: Rpc = (method, params) =>
    new Promise((resolve, reject) => {
      const drips = random.chance(behaviour.dripping);
      const isSlow = behaviour.failing > 0 && random.chance(0.03);
      const delayMs = isSlow ? random.between(1_000, deadlineMs - 1) : random.between(0, 200);
      const run = () => {
        const alone = loneQuestion(method, params);
        try {
          if (drips) fail('dripped', 'refused');
          if (behaviour.isThrottling()) fail('throttled', 'throttled');
          if (random.chance(behaviour.failing)) fail('failed', random.pick(['refused', 'refused', 'failed']));
          resolve(random.chance(behaviour.unreadable) ? unreadable() : answer(method, params));
          if (alone) refusals.delete(alone);
        } catch (error) {
          if (alone) noteRefusal(alone);
          reject(error);
        }
      };
      scheduler.after(drips ? deadlineMs : delayMs, { processName, run });
    });

  /** Of questions for one account and block, in a row. */
  const refusals = new Map<string, number>();
  function noteRefusal(alone: string): void {
    const inARow = (refusals.get(alone) ?? 0) + 1;
    refusals.set(alone, inARow);
    if (inARow >= refusalsBeforeUnread) refusedAlone.add(alone);
  }

  function fail(fault: ChainFault, failure: NodeError['failure']): never {
    count(fault);
    throw new NodeError(`The ${label} ${fault}.`, failure);
  }

  function unreadable(): unknown {
    count('unreadable');
    return random.pick([null, undefined, {}, '0x', [null]]);
  }

  function answer(method: string, params: unknown[]): unknown {
    switch (method) {
      case 'eth_chainId':
        return toHex(1);
      case 'eth_call':
        return toHex(decimals);
      case 'eth_getBlockByNumber':
        return block(params[0] as string);
      case 'eth_getLogs':
        return logs(params[0] as LogFilter);
      default:
        throw new Error(`nobody asks for ${method}`);
    }
  }

  let known = 0;
  /**
   * The last block that this node knows. It can be behind the others, but does not forget: logs of a node that had the last
   * block of a range are complete.
   */
  const head = () => {
    const isBehind = random.chance(behaviour.behind);
    if (isBehind) count('behind');
    known = Math.max(known, chain.head().number - (isBehind ? random.between(1, 6) : 0));
    return known;
  };

  const falseHash = () =>
    `0x${random
      .between(0, 2 ** 31)
      .toString(16)
      .padStart(64, 'e')}`;

  function block(at: string) {
    const last = head();
    const final = Math.min(last, chain.finalNumber());
    const wanted =
      at === 'latest' ? last : at === 'finalized' ? (liesAboutBlocks() ? last : final) : Number(at);
    const found = wanted <= last ? chain.blocks[wanted] : undefined;
    if (!found) return null;
    const { number, hash, atMs } = found;
    const timestamp = toHex(Math.floor(atMs / 1_000));
    return { number: toHex(number), hash: liesAboutBlocks() ? falseHash() : hash, timestamp };
  }

  /** What a liar gave last, by block. Only the other node can show that it lies: it does not contradict itself. */
  let given: ChainLog[] = [];
  /** How logs were counted in the last answer. */
  let lastNumbering: string | undefined;

  function logs({ fromBlock, toBlock, blockHash, topics }: LogFilter): unknown[] {
    const asked = (topics[2] as string[] | undefined)?.map(accountOfTopic);
    const last = head();
    const byHash = blockHash === undefined ? undefined : chain.find(blockHash);
    if (blockHash !== undefined && !(byHash && chain.isOnChain(byHash) && byHash.number <= last))
      throw new NodeError(`The ${label} does not have the block.`, 'refused');
    const [first, end] = byHash ? [byHash.number, byHash.number] : [Number(fromBlock), Number(toBlock)];
    const blocks = chain.blocks.slice(first, Math.min(end, last) + 1);
    const isAsked = ({ account }: ChainLog) => asked?.includes(account) ?? true;
    const real = blocks.flatMap(logsOf).filter(log => log.contract === contract && isAsked(log));
    if (real.length > behaviour.maxLogsOf(nth)) refuse(asked, first, end);
    const isWithin = ({ blockNumber }: ChainLog) => blockNumber >= first && blockNumber <= end;
    if (byHash && nth === behaviour.liar) return encode(given.filter(log => isWithin(log) && isAsked(log)));
    const answered = lies() ? falsify(real, () => refuse(asked, first, end)) : real;
    given = [...given.filter(log => !isWithin(log) || !isAsked(log)), ...answered];
    // Logs of other contracts, accounts and blocks come along: what counts is for the watcher to decide.
    const around = chain.blocks.slice(Math.max(0, first - 1), Math.min(end, last) + 1).flatMap(logsOf);
    const others = random.chance(0.3) ? around.filter(log => !real.includes(log)) : [];
    return encode([...answered, ...others]);
  }

  function refuse(asked: string[] | undefined, first: number, last: number): never {
    const isAlone = asked?.length === 1 && first === last;
    return fail(isAlone ? 'too large for one account' : 'too large', 'too_large');
  }

  function encode(answered: ChainLog[]): unknown[] {
    const numbering = behaviour.numberingOf(nth);
    if (answered.length > 0 && lastNumbering !== undefined && numbering !== lastNumbering)
      count('renumbered');
    if (answered.length > 0) lastNumbering = numbering;
    const isDoubled = ({ transaction }: ChainLog) => transaction[2]! < '8';
    if (!answered.some(isDoubled) || !behaviour.isDoubling()) return encodeLogs(random, answered, numbering);
    count('doubled');
    return encodeLogs(
      random,
      answered.flatMap(log => (isDoubled(log) ? [log, log] : [log])),
      numbering,
    );
  }

  /** Hides logs, invents one, changes who gets how much, or claims that there are too many. */
  function falsify(real: ChainLog[], refuseAll: () => never): ChainLog[] {
    switch (random.pick(['hide', 'invent', 'amount', 'account', 'refuse'] as const)) {
      case 'refuse':
        return refuseAll();
      case 'hide':
        return real.filter(() => random.chance(0.5));
      case 'amount':
        return real.map(log => ({ ...log, units: log.units * 2n + 10n ** BigInt(decimals) }));
      case 'account':
        return real.map(log => ({ ...log, account: random.pick(accounts) }));
      case 'invent': {
        const at = random.pick(chain.blocks.slice(-8));
        const place = { blockNumber: at.number, blockHash: at.hash, transaction: falseHash() };
        const counted = { inBlock: 0, inTransaction: 0 };
        const units = 5n * 10n ** BigInt(decimals);
        return [
          ...real,
          { ...place, ...counted, contract, sender: contract, account: random.pick(accounts), units },
        ];
      }
    }
  }

  return openNode(rpc, label);
}
