import type { Random } from '../helpers/random.ts';
import { type Block, sender } from './chain.ts';

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
