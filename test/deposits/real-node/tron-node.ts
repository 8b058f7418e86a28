import { toHex } from 'viem';
import type { Answer } from '../../helpers/evm-node.ts';
import type { NodeProxy } from './node-proxy.ts';

/** How many blocks at the end are not solid: 19 of 27 block producers have to build on a block. Fewer are enough here. */
export const notSolid = 3n;
const chainId = 728_126_428;
const maxBlockRange = 5_000n;
const maxSubTopics = 1_000;
const maxResults = 10_000;
const callFields = ['from', 'to', 'gas', 'gasPrice', 'value', 'data', 'nonce'];
const filterFields = ['fromBlock', 'toBlock', 'address', 'topics', 'blockHash'];

const refuse = (message: string, code = -32_602): Answer => ({ error: { code, message } });
const hasOnly = (given: object, fields: string[]) => Object.keys(given).every(name => fields.includes(name));

/** The id of a block begins with its number, in 8 bytes. */
const blockId = (number: string, hash: string) =>
  `${toHex(BigInt(number), { size: 8 })}${hash.slice(2 + 2 * 8)}`;

type Json = Record<string, unknown> & { blockNumber: string; blockHash: string };

const asTronLog = ({ blockTimestamp: _, ...log }: Json) => ({
  ...log,
  blockHash: blockId(log.blockNumber, log.blockHash),
});

/**
 * Between the service and a node of Ethereum: answers and refuses as the JSON-RPC of java-tron does (4.8). Accounts have 20 bytes in it, as they do on Ethereum.
 */
export const asTron: NonNullable<NodeProxy['interfere']> = async ({ method, params }, forward) => {
  const change = async <Result>(changes: (result: Result) => unknown, asked = params): Promise<Answer> => {
    const answer = await forward({ params: asked });
    return 'result' in answer && answer.result !== null
      ? { result: changes(answer.result as Result) }
      : answer;
  };
  switch (method) {
    case 'eth_chainId':
      return { result: toHex(chainId) };
    case 'eth_call': {
      const [call, at] = params;
      if (!hasOnly(call, callFields)) return refuse('invalid json request', -32_600);
      return at === 'latest' ? forward() : refuse('QUANTITY not supported, just support TAG as latest');
    }
    case 'eth_getBlockByNumber': {
      let [at] = params;
      if (at === 'finalized') {
        const { result } = (await forward({ method: 'eth_blockNumber', params: [] })) as { result: string };
        const solid = BigInt(result) - notSolid;
        at = toHex(solid > 0n ? solid : 0n);
      }
      return change<{ number: string; hash: string; timestamp: string; transactions: string[] }>(
        ({ number, hash, timestamp, transactions }) => ({
          ...{ number, hash: blockId(number, hash), timestamp, transactions },
          ...{ difficulty: '0x0', totalDifficulty: '0x0', extraData: '0x', nonce: toHex(0, { size: 8 }) },
          ...{ gasLimit: '0x0', gasUsed: '0x0', baseFeePerGas: '0x0', size: '0x0', stateRoot: '0x' },
        }),
        [at, false],
      );
    }
    case 'eth_getLogs': {
      const [filter] = params;
      if (!hasOnly(filter, filterFields)) return refuse('invalid json request', -32_600);
      if (!/^0x[0-9a-f]{40}$/i.test(filter.address)) return refuse(`invalid address: ${filter.address}`);
      if (filter.blockHash) {
        const number = toHex(BigInt(filter.blockHash.slice(0, 18)));
        const found = await forward({ method: 'eth_getBlockByNumber', params: [number, false] });
        const { hash } = (found as { result: { hash: string } }).result;
        if (blockId(number, hash) !== filter.blockHash) return refuse('invalid block hash');
        filter.blockHash = hash;
      } else {
        const [from, to] = [BigInt(filter.fromBlock), BigInt(filter.toBlock)];
        if (from > to) return refuse('please verify: fromBlock <= toBlock');
        if (to - from > maxBlockRange) return refuse(`exceed max block range: ${maxBlockRange}`);
      }
      const lists = (filter.topics as unknown[]).filter(Array.isArray);
      if (lists.some(topics => topics.length > maxSubTopics))
        return refuse(`exceed max topics: ${maxSubTopics}`);
      const answer = await change<Json[]>(logs => logs.map(asTronLog));
      const isTooMany = 'result' in answer && (answer.result as Json[]).length > maxResults;
      return isTooMany ? refuse(`query returned more than ${maxResults} results`, -32_005) : answer;
    }
    default:
      return refuse(`the method ${method} does not exist/is not available`, -32_601);
  }
};
