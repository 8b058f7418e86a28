import { createHash } from 'node:crypto';
import { json } from 'node:stream/consumers';
import { encodeEventTopics, parseAbi, toHex } from 'viem';
import { listen } from './local-server.ts';

const abi = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']);
const [transferTopic] = encodeEventTopics({ abi });
const digest = (text: string) => `0x${createHash('sha256').update(text).digest('hex')}`;

/** Some tests have blocks of 40 000 logs, which viem takes seconds to encode. */
const word = (hex: string) => `0x${hex.padStart(64, '0')}`;

/** The selector of `balanceOf(address)`. */
const balanceOf = '0x70a08231';

export const usdtContract = '0xdac17f958d2ee523a2206206994597c13d831ec7';
export const sender = '0x00000000000000000000000000000000000000aa';

export interface Transfer {
  to: string;
  units: bigint;
  contract?: string;
  isRemoved?: boolean;
}

interface Block {
  number: number;
  hash: string;
  transactions: { hash: string; transfers: Transfer[] }[];
}

/** A chain in memory: blocks with transfers, which can be replaced above the final one. */
export function createChain(name = 'chain') {
  let made = 0;
  const newBlock = (number: number, transactions: Transfer[][]): Block => {
    made += 1;
    return {
      number,
      hash: digest(`${name} block ${number} ${made}`),
      transactions: transactions.map((transfers, nth) => ({
        hash: digest(`${name} ${made} ${nth}`),
        transfers,
      })),
    };
  };
  const blocks = [newBlock(0, [])];
  const chain = {
    blocks,
    /** How many blocks at the end are not final. */
    notFinal: 2,
    /** The time of its first block; each is a second later than the one before. */
    startSec: 1_763_300_000,
    mine: (...transactions: Transfer[][]) => {
      const block = newBlock(blocks.length, transactions);
      blocks.push(block);
      return block;
    },
    mineMany: (count: number) => {
      for (let nth = 0; nth < count; nth++) chain.mine();
    },
    /** Replaces the last blocks by empty ones. */
    reorganise: (depth: number) => {
      blocks.splice(-depth);
      chain.mineMany(depth);
    },
  };
  return chain;
}
export type Chain = ReturnType<typeof createChain>;

type Answer = { result: unknown } | { error: { code: number; message: string } };
type Fault = { status: number } | 'closes the connection' | 'never answers';
/** Undefined: the node answers. `own` is what it would answer, also to other parameters. */
type Interfere = (
  method: string,
  params: unknown[],
  own: (params?: unknown[]) => unknown,
) => Answer | Fault | undefined;

/** A node of the chain over JSON-RPC. `interfere` makes it fail or lie. */
export async function startNode(chain: Chain, { chainId = 1, decimals = 6, knowsFinalized = true } = {}) {
  const node = {
    url: '',
    calls: [] as string[],
    interfere: undefined as Interfere | undefined,
    ignoresFilter: false,
    ignoresRange: false,
    /** Some nodes count the logs of a transaction, others those of its block. */
    countsLogsIn: 'block' as 'block' | 'transaction',
  };
  const blockOf = (tag: string): Block | undefined => {
    const last = chain.blocks.length - 1;
    if (tag === 'latest') return chain.blocks[last];
    if (tag === 'finalized') return chain.blocks[Math.max(0, last - chain.notFinal)];
    return chain.blocks[Number(tag)];
  };
  const logsOf = ({ number, hash, transactions }: Block) => {
    let logIndex = -1;
    const blockNumber = toHex(number);
    return transactions.flatMap(transaction => {
      if (node.countsLogsIn === 'transaction') logIndex = -1;
      return transaction.transfers.map(({ to, units, contract = usdtContract, isRemoved = false }) => {
        logIndex += 1;
        return {
          address: contract,
          topics: [transferTopic, word(sender.slice(2)), word(to.slice(2))],
          data: word(units.toString(16)),
          blockNumber,
          blockHash: hash,
          transactionHash: transaction.hash,
          transactionIndex: '0x0',
          logIndex: `0x${logIndex.toString(16)}`,
          removed: isRemoved,
        };
      });
    });
  };
  // biome-ignore lint/suspicious/noExplicitAny: each method has parameters of its own
  const methods: Record<string, (params: any[]) => unknown> = {
    eth_chainId: () => toHex(chainId),
    eth_call: ([{ data }]) => {
      if (!data.startsWith(balanceOf)) return toHex(decimals, { size: 32 });
      const account = `0x${data.slice(-40)}`;
      const transfers = chain.blocks.flatMap(block => block.transactions.flatMap(one => one.transfers));
      return toHex(
        transfers.reduce((sum, { to, units }) => (to === account ? sum + units : sum), 0n),
        { size: 32 },
      );
    },
    eth_getBlockByNumber: ([tag]) => {
      const block = blockOf(tag);
      return (
        block && {
          number: toHex(block.number),
          hash: block.hash,
          timestamp: toHex(chain.startSec + block.number),
        }
      );
    },
    eth_getLogs: ([{ address, topics, fromBlock, toBlock, blockHash }]) =>
      (blockHash
        ? chain.blocks.filter(({ hash }) => hash === blockHash)
        : chain.blocks.slice(Number(fromBlock), node.ignoresRange ? undefined : Number(toBlock) + 1)
      )
        .flatMap(logsOf)
        .filter(
          log =>
            node.ignoresFilter ||
            (log.address === address.toLowerCase() && (!topics[2] || topics[2].includes(log.topics[2]))),
        ),
  };
  const answer = (method: string, params: unknown[]): Answer | Fault => {
    node.calls.push(method);
    const changed = node.interfere?.(method, params, (changed = params) => methods[method]!(changed));
    if (changed) return changed;
    const [range] = params as [{ fromBlock: string; toBlock: string }];
    if (method === 'eth_getLogs' && Number(range.fromBlock) > Number(range.toBlock))
      return { error: { code: -32_602, message: 'invalid block range params' } };
    if (params[0] === 'finalized' && !knowsFinalized)
      return { error: { code: -32_602, message: 'invalid block number' } };
    return { result: methods[method]!(params) };
  };
  const address = await listen(async (request, response) => {
    const { id, method, params = [] } = (await json(request)) as Record<string, never>;
    const given = answer(method!, params);
    if (given === 'never answers') return;
    if (given === 'closes the connection') return void response.destroy();
    if ('status' in given) return void response.writeHead(given.status).end('no');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...given }));
  });
  node.url = `${address}/key-of-the-node`;
  return node;
}
