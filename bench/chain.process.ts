/**
 * A node of a chain whose blocks are full of USDT transfers. Arguments: the contract, the transfers of a block, every how many
 * transfers one goes to an account of ours, and a file with these accounts. `bench_grow` makes blocks.
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
const startSec = Math.floor(Date.now() / 1_000) - 86_400;

let head = 0;

/** The transfers of one block; each is a transaction of its own, whose hash says where it is. */
function logsOf(number: number): string[] {
  return Array.from({ length: transfersPerBlock }, (_, logIndex) => {
    const nth = number * transfersPerBlock + logIndex;
    const to = nth % oursEvery === 0 ? accounts[(nth / oursEvery) % accounts.length]! : word(2 ** 42 + nth);
    return JSON.stringify({
      address: contract,
      topics: [transferTopic, word(1), word(to)],
      data: units,
      blockNumber: hex(number),
      blockHash: blockHash(number),
      transactionHash: word(2 ** 44 + nth),
      transactionIndex: hex(logIndex),
      logIndex: hex(logIndex),
      removed: false,
    });
  });
}

function receiptOf(hash: string): string {
  const nth = Number.parseInt(hash.slice(-12), 16) - 2 ** 44;
  const number = Math.floor(nth / transfersPerBlock);
  const log = logsOf(number)[nth % transfersPerBlock];
  return `{"transactionHash":"${hash}","blockHash":"${blockHash(number)}","blockNumber":"${hex(number)}","status":"0x1","logs":[${log}]}`;
}

function blockOf(tag: string): string {
  const number = tag.startsWith('0x') ? Number(tag) : head;
  return JSON.stringify({ number: hex(number), hash: blockHash(number), timestamp: hex(startSec + number) });
}

function logsBetween(from: number, to: number): string {
  const logs: string[] = [];
  for (let number = from; number <= Math.min(to, head); number++) logs.push(...logsOf(number));
  return `[${logs.join(',')}]`;
}

function grow(blocks: number): string {
  head += blocks;
  return `"${hex(head)}"`;
}

// biome-ignore lint/suspicious/noExplicitAny: each method has parameters of its own
const methods: Record<string, (params: any[]) => string> = {
  eth_chainId: () => '"0x1"',
  eth_call: () => `"${word(6)}"`,
  eth_getBlockByNumber: ([tag]) => blockOf(tag),
  eth_getLogs: ([{ fromBlock, toBlock }]) => logsBetween(Number(fromBlock), Number(toBlock)),
  eth_getTransactionReceipt: ([hash]) => receiptOf(hash),
  bench_grow: ([blocks]) => grow(blocks),
};

serveTiny(({ body }) => {
  const { id, method, params = [] } = JSON.parse(body);
  return answer(`{"jsonrpc":"2.0","id":${id},"result":${methods[method]!(params)}}`);
});
