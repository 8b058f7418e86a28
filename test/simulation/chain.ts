import { createHash } from 'node:crypto';
import { ascending } from '../../src/base/money.ts';
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

export const contract = `0x${'c'.repeat(40)}`;
export const sender = `0x${'a'.repeat(40)}`;

export function createSimulatedChain(random: Random, { name, nowMs }: { name: string; nowMs: () => number }) {
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
    /** The present ones. */
    blocks,
    head: () => blocks.at(-1)!,
    /** Grows only, whatever is replaced. */
    finalNumber: () => finalNumber,
    /** All blocks that were final at any time. */
    everFinal,
    /** A block that is or was on the chain. */
    find: (hash: string) => byHash.get(hash),
    isOnChain: (block: Block) => blocks[block.number] === block,
    mine: (transfers: Transfer[][]) =>
      append(transfers.map(each => ({ hash: newHash('transaction'), transfers: each }))),
    /** Replaces blocks that are not final by at least as many. Their transactions come again in another order, or never. */
    reorganise: () => replaceLast(random.between(1, blocks.length - 1 - finalNumber), each => each),
    /** The same with final blocks, down to `lowest` at most. A transaction that comes again may do something else. */
    reorganiseFinal: (lowest: number) => {
      const kept = random.between(lowest, finalNumber - 1);
      replaceLast(blocks.length - 1 - kept, each => (each.transfers.length === 0 ? each : doOtherwise(each)));
    },
    /** Grows with every change. */
    version: () => version,
  };
}

/** The real state of a chain: its blocks, which can be replaced above the final one, and seldom below it. */
export type SimulatedChain = ReturnType<typeof createSimulatedChain>;

/** A transfer as a node has it. Nodes show one of the two numbers. */
export interface ChainLog {
  contract: string;
  account: string;
  sender: string;
  units: bigint;
  blockNumber: number;
  blockHash: string;
  transaction: string;
  inBlock: number;
  inTransaction: number;
}

export type Numbering = 'block' | 'transaction';

const ofBlocks = new WeakMap<Block, ChainLog[]>();

/** The same objects every time. */
export function logsOf(block: Block): ChainLog[] {
  const logs = ofBlocks.get(block) ?? readLogs(block);
  ofBlocks.set(block, logs);
  return logs;
}

function readLogs({ number, hash, transactions }: Block): ChainLog[] {
  let inBlock = -1;
  return transactions.flatMap(transaction =>
    transaction.transfers.map((transfer, inTransaction) => {
      inBlock += 1;
      const place = { blockNumber: number, blockHash: hash, transaction: transaction.hash };
      return { ...transfer, ...place, sender, inBlock, inTransaction };
    }),
  );
}

export const toHex = (value: number | bigint) => `0x${value.toString(16)}`;
const toWord = (hex: string) => `0x${hex.slice(2).padStart(64, '0')}`;
export const accountOfTopic = (topic: string) => `0x${topic.slice(-40)}`;

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const approvalTopic = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';

const rawOf = (log: ChainLog, numbering: Numbering) => ({
  address: log.contract,
  topics: [transferTopic, toWord(log.sender), toWord(log.account)],
  data: toWord(toHex(log.units)),
  blockNumber: toHex(log.blockNumber),
  blockHash: log.blockHash,
  transactionHash: log.transaction,
  logIndex: toHex(numbering === 'block' ? log.inBlock : log.inTransaction),
  removed: false,
});

/** As JSON-RPC gives them, in any order, sometimes with what is no transfer: one that was taken back, and another event. */
export function encodeLogs(random: Random, logs: ChainLog[], numbering: Numbering): unknown[] {
  const raw = logs.map(log => rawOf(log, numbering));
  if (raw.length === 0 || random.chance(0.7)) return raw;
  const one = random.pick(raw);
  const event = { ...one, topics: [approvalTopic, ...one.topics.slice(1)] };
  return random.shuffle([...raw, { ...one, removed: true }, event]);
}

/** A transfer that is worth something to one of our accounts. */
export interface RealDeposit {
  /** Transaction, partner, and place among the transfers of the transaction to the partner. */
  key: string;
  uuid: string;
  account: string;
  blockNumber: number;
  units: bigint;
  microUsdt: bigint;
}

interface Parts {
  chain: SimulatedChain;
  decimals: number;
  /** By account. */
  uuidOf: ReadonlyMap<string, string>;
}

/** What was really transferred to partners. */
export function createChainTruth({ chain, decimals, uuidOf }: Parts) {
  const unitsPerMicro = 10n ** BigInt(decimals - 6);
  const ofBlocks = new WeakMap<Block, RealDeposit[]>();

  function read(block: Block): RealDeposit[] {
    const counts = new Map<string, number>();
    return logsOf(block).flatMap(log => {
      const uuid = uuidOf.get(log.account);
      const microUsdt = log.units / unitsPerMicro;
      if (log.contract !== contract || uuid === undefined || microUsdt === 0n) return [];
      const counted = `${log.transaction} ${uuid}`;
      const ordinal = counts.get(counted) ?? 0;
      counts.set(counted, ordinal + 1);
      const { account, blockNumber, units } = log;
      return [{ key: `${counted} ${ordinal}`, uuid, account, blockNumber, units, microUsdt }];
    });
  }

  function depositsOf(block: Block): RealDeposit[] {
    const deposits = ofBlocks.get(block) ?? read(block);
    ofBlocks.set(block, deposits);
    return deposits;
  }

  /** Of a block and all before it, whether or not they are still on the chain. */
  function upTo(last: Block): RealDeposit[] {
    const deposits: RealDeposit[] = [];
    for (let block: Block | undefined = last; block; block = block.parent)
      deposits.push(...depositsOf(block));
    return deposits;
  }

  let finalAt = -1;
  /** Of blocks that were final at any time, by key: what one transaction did in one block, and then in another. */
  const final = new Map<string, RealDeposit[]>();
  function everFinal(): ReadonlyMap<string, RealDeposit[]> {
    if (finalAt === chain.version()) return final;
    finalAt = chain.version();
    final.clear();
    for (const deposit of [...chain.everFinal].flatMap(depositsOf))
      final.set(deposit.key, [...(final.get(deposit.key) ?? []), deposit]);
    return final;
  }

  /** As much as the partner may be credited at most. */
  function mostOf(uuid: string): bigint {
    let sum = 0n;
    for (const versions of everFinal().values()) {
      if (versions[0]!.uuid !== uuid) continue;
      sum += ascending(versions.map(({ microUsdt }) => microUsdt)).at(-1)!;
    }
    return sum;
  }

  return { depositsOf, upTo, everFinal, mostOf };
}

export type ChainTruth = ReturnType<typeof createChainTruth>;
