/**
 * A node of a chain whose blocks are full of USDT transfers. Arguments: the contract, the transfers of a block, every how many
 * transfers one goes to an account of ours, and a file with these accounts. `bench_grow` makes blocks; `bench_dust` makes one whose
 * only transaction has so many transfers of the smallest unit to the first accounts.
 */
import { readFileSync } from 'node:fs';
import { answer, serveTiny } from './tiny-server.ts';

const [contract = '', perBlock, oneOf, file = ''] = process.argv.slice(2);
const transfersPerBlock = Number(perBlock);
const oursEvery = Number(oneOf);
const accounts: string[] = JSON.parse(readFileSync(file, 'utf8'));

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const hex = (value: number) => `0x${value.toString(16)}`;
const word = (value: number | string) =>
  `0x${(typeof value === 'number' ? value.toString(16) : value.slice(2)).padStart(64, '0')}`;
const blockHash = (number: number) => word(2 ** 40 + number);
const units = word(2_000_000);
const dustAccounts = 100;
const startSec = Math.floor(Date.now() / 1_000) - 86_400;

let head = 0;

interface Log {
  to: string;
  json: string;
}

function logOf(number: number, logIndex: number, to: string, { data = units, transaction = 0 } = {}): Log {
  const topic = word(to);
  const json = JSON.stringify({
    address: contract,
    topics: [transferTopic, word(1), topic],
    data,
    blockNumber: hex(number),
    blockHash: blockHash(number),
    transactionHash: word(2 ** 44 + transaction),
    transactionIndex: hex(logIndex),
    logIndex: hex(logIndex),
    removed: false,
  });
  return { to: topic, json };
}

const dust = new Map<number, Log[]>();

/** The transfers of one block; each is a transaction of its own, unless the block is full of dust. */
const logsOf = (number: number): Log[] =>
  dust.get(number) ??
  Array.from({ length: transfersPerBlock }, (_, logIndex) => {
    const nth = number * transfersPerBlock + logIndex;
    const to = nth % oursEvery === 0 ? accounts[(nth / oursEvery) % accounts.length]! : word(2 ** 42 + nth);
    return logOf(number, logIndex, to, { transaction: nth });
  });

function addDust(transfers: number): string {
  head += 1;
  const options = { data: word(1), transaction: 2 ** 20 };
  const logs = Array.from({ length: transfers }, (_, nth) =>
    logOf(head, nth, accounts[nth % dustAccounts]!, options),
  );
  dust.set(head, logs);
  return `"${hex(head)}"`;
}

function blockOf(tag: string): string {
  const number = tag.startsWith('0x') ? Number(tag) : head;
  return JSON.stringify({ number: hex(number), hash: blockHash(number), timestamp: hex(startSec + number) });
}

function logsBetween(from: number, to: number, topics: string[] | undefined): string {
  const wanted = topics && new Set(topics);
  const logs: string[] = [];
  for (let number = from; number <= Math.min(to, head); number++)
    for (const log of logsOf(number)) if (!wanted || wanted.has(log.to)) logs.push(log.json);
  return `[${logs.join(',')}]`;
}

const numberOf = (hash: string) => Number.parseInt(hash.slice(-12), 16) - 2 ** 40;

function grow(blocks: number): string {
  head += blocks;
  return `"${hex(head)}"`;
}

// biome-ignore lint/suspicious/noExplicitAny: each method has parameters of its own
const methods: Record<string, (params: any[]) => string> = {
  eth_chainId: () => '"0x1"',
  eth_call: () => `"${word(6)}"`,
  eth_getBlockByNumber: ([tag]) => blockOf(tag),
  eth_getLogs: ([{ fromBlock, toBlock, blockHash: hash, topics }]) => {
    const [from, to] = hash ? [numberOf(hash), numberOf(hash)] : [Number(fromBlock), Number(toBlock)];
    return logsBetween(from, to, topics[2]);
  },
  bench_grow: ([blocks]) => grow(blocks),
  bench_dust: ([transfers]) => addDust(transfers),
};

serveTiny(({ body }) => {
  const { id, method, params = [] } = JSON.parse(body);
  return answer(`{"jsonrpc":"2.0","id":${id},"result":${methods[method]!(params)}}`);
});
