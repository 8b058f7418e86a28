import { createPublicClient, type Hex, http, type Log, parseAbi, parseAbiItem, parseEventLogs } from 'viem';
import { createFetch } from '../../http-client/index.ts';
import { redact } from './redact.ts';

export interface ChainBlock {
  number: bigint;
  hash: string;
  atMs: number;
}

/** A Transfer of the contract, in lower case. */
export interface TransferLog {
  transaction: string;
  logIndex: number;
  blockNumber: bigint;
  blockHash: string;
  contract: string;
  sender: string;
  account: string;
  units: bigint;
}

export interface LogQuery {
  contract: string;
  /** Undefined: transfers to anybody. */
  accounts: string[] | undefined;
  fromBlock: bigint;
  toBlock: bigint;
}

export interface Receipt {
  isSuccess: boolean;
  transfers: TransferLog[];
}

/** One node of a chain. Every call fails with a `NodeError`, whose message contains no address. */
export interface ChainNode {
  /** For logs and alarms: the chain and the place in the setting, never the address. */
  label: string;
  chainId(): Promise<number>;
  decimals(contract: string): Promise<number>;
  /** In the smallest units of the token. */
  balance(contract: string, account: string): Promise<bigint>;
  block(at: bigint | 'finalized' | 'latest'): Promise<ChainBlock>;
  logs(query: LogQuery): Promise<TransferLog[]>;
  receipt(transaction: string): Promise<Receipt>;
}

const timeoutMs = 10_000;
/** Some ten thousand logs. A longer answer would occupy the process for too long, and is asked for in parts. */
const maxAnswerBytes = 8 * 1024 * 1024;
const transfer = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');
const token = parseAbi([
  'function decimals() view returns (uint8)',
  'function balanceOf(address) view returns (uint256)',
]);

export function openNode(url: string, label: string): ChainNode {
  const client = createPublicClient({
    // Block numbers must be those of now: by default they are remembered for some seconds.
    cacheTime: 0,
    transport: http(url, {
      // The time limit of the library ends with the headers of an answer.
      timeout: 0,
      retryCount: 0,
      maxResponseBodySize: false,
      fetchFn: createFetch({ timeoutMs, maxBytes: maxAnswerBytes }),
    }),
  });
  const call = <Result>(ask: () => Promise<Result>): Promise<Result> =>
    ask().catch(error => {
      throw redact(error, label);
    });
  return {
    label,
    chainId: () => call(() => client.getChainId()),
    decimals: contract =>
      call(() => client.readContract({ address: contract as Hex, abi: token, functionName: 'decimals' })),
    balance: (contract, account) =>
      call(() =>
        client.readContract({
          address: contract as Hex,
          abi: token,
          functionName: 'balanceOf',
          args: [account as Hex],
        }),
      ),
    block: at =>
      call(async () => {
        const block = await client.getBlock(typeof at === 'bigint' ? { blockNumber: at } : { blockTag: at });
        // The cursor follows what is given here: with a later block than asked for it would pass deposits.
        if (typeof at === 'bigint' && block.number !== at) throw new Error('another block');
        return {
          number: block.number!,
          hash: block.hash!.toLowerCase(),
          atMs: Number(block.timestamp) * 1_000,
        };
      }),
    logs: ({ contract, accounts, fromBlock, toBlock }) =>
      call(async () => {
        const logs = await client.getLogs({
          address: contract as Hex,
          event: transfer,
          ...(accounts ? { args: { to: accounts as Hex[] } } : {}),
          fromBlock,
          toBlock,
          strict: true,
        });
        return logs.filter(log => !log.removed).map(toTransferLog);
      }),
    receipt: transaction =>
      call(async () => {
        const receipt = await client.getTransactionReceipt({ hash: transaction as Hex });
        const transfers = parseEventLogs({ abi: [transfer], logs: receipt.logs });
        return { isSuccess: receipt.status === 'success', transfers: transfers.map(toTransferLog) };
      }),
  };
}

const toTransferLog = (log: Log<bigint, number, false, typeof transfer, true>): TransferLog => ({
  transaction: log.transactionHash.toLowerCase(),
  logIndex: log.logIndex,
  blockNumber: log.blockNumber,
  blockHash: log.blockHash.toLowerCase(),
  contract: log.address.toLowerCase(),
  sender: log.args.from.toLowerCase(),
  account: log.args.to.toLowerCase(),
  units: log.args.value,
});
