import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getAddress, keccak256, toHex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { type TokenTransfer, tokenDeployment, transferData } from './test-token.ts';

/** Where `.ci/run` puts it. */
const packageFolder = join(
  import.meta.dirname,
  '../../node_modules/.cache/evm-node/node_modules/@nomicfoundation/edr',
);
export const isEvmNodeInstalled = existsSync(packageFolder);

if (!isEvmNodeInstalled)
  console.warn('\n!!! The EVM node is not installed: its tests are SKIPPED. Run .ci/run to install it.\n');

/** The node of Hardhat, in Rust: as much of it as is used here. */
interface Edr {
  EdrContext: new () => {
    registerProviderFactory(chainType: string, factory: unknown): Promise<void>;
    createProvider(
      chainType: string,
      config: object,
      logger: object,
      subscriptions: object,
      decoder: unknown,
    ): Promise<Provider>;
  };
  ContractDecoder: new () => unknown;
  L1_CHAIN_TYPE: string;
  l1ProviderFactory(): unknown;
  l1HardforkLatest(): number;
  l1HardforkToString(hardfork: number): string;
  l1GenesisState(hardfork: number): object[];
}

interface Provider {
  handleRequest(request: string): Promise<{ data: unknown }>;
}

export const evmChainId = 31_337;
const senderKey = keccak256('0x01');
/** Fixed, so that a transaction that is signed again is the same one. */
const gasPrice = toHex(10n ** 9n);
/** Enough for some hundred transfers. */
const gas = toHex(16_000_000);
const blockGasLimit = 10n ** 9n;

let context: InstanceType<Edr['EdrContext']> | undefined;

async function openProvider(): Promise<Provider> {
  const edr = createRequire(import.meta.url)(packageFolder) as Edr;
  // A process may have only one.
  if (!context) {
    context = new edr.EdrContext();
    await context.registerProviderFactory(edr.L1_CHAIN_TYPE, edr.l1ProviderFactory());
  }
  const hardfork = edr.l1HardforkLatest();
  const sender = Buffer.from(privateKeyToAddress(senderKey).slice(2), 'hex');
  return context.createProvider(
    edr.L1_CHAIN_TYPE,
    {
      allowBlocksWithSameTimestamp: false,
      allowUnlimitedContractSize: false,
      bailOnCallFailure: false,
      bailOnTransactionFailure: false,
      chainId: BigInt(evmChainId),
      networkId: BigInt(evmChainId),
      coinbase: new Uint8Array(20),
      defaultTransactionGasLimit: BigInt(gas),
      genesisState: [...edr.l1GenesisState(hardfork), { address: sender, balance: 10n ** 30n }],
      hardfork: edr.l1HardforkToString(hardfork),
      initialBaseFeePerGas: 1n,
      minGasPrice: 0n,
      mining: { autoMine: false, blockGasLimit, memPool: { order: 'Fifo' } },
      network: { genesisBlockGasLimit: blockGasLimit },
      observability: {},
      ownedAccounts: [senderKey],
      precompileOverrides: [],
    },
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
    { subscriptionCallback: () => {} },
    new edr.ContractDecoder(),
  );
}

export type Answer = { result: unknown } | { error: { code: number; message: string } };

/** A real node with an empty chain of its own. It makes a block only when it is asked to, and calls every block final. */
export async function startEvmNode() {
  const provider = await openProvider();
  let reorganisations = 0;

  async function answer(method: string, params: unknown[]): Promise<Answer> {
    const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const { data } = await provider.handleRequest(request);
    return typeof data === 'string' ? JSON.parse(data) : (data as Answer);
  }

  async function call<Result>(method: string, ...params: unknown[]): Promise<Result> {
    const answered = await answer(method, params);
    if ('error' in answered) throw new Error(`${method}: ${answered.error.message}`);
    return answered.result as Result;
  }

  const from = privateKeyToAddress(senderKey);
  const node = {
    answer,
    call,
    mine: (blocks = 1) => call('hardhat_mine', toHex(blocks)),
    head: async () => BigInt(await call<string>('eth_blockNumber')),
    /** Returns the address with its checksum. */
    deployToken: (decimals = 6) => node.deploy(tokenDeployment(decimals)),
    deploy: async (data: string): Promise<`0x${string}`> => {
      const hash = await call<string>('eth_sendTransaction', { from, data, gas, gasPrice });
      await node.mine();
      const receipt = await call<{ contractAddress: `0x${string}` }>('eth_getTransactionReceipt', hash);
      return getAddress(receipt.contractAddress);
    },
    /** One transaction, which waits for the next block. Returns its hash. */
    send: (token: string, transfers: TokenTransfer[], limit = gas): Promise<string> =>
      call('eth_sendTransaction', {
        from,
        to: token,
        gas: limit,
        gasPrice,
        data: transferData(transfers),
      }),
    receipt: (hash: string) =>
      call<{ status: string; logs: { logIndex: string }[] }>('eth_getTransactionReceipt', hash),
    snapshot: () => call<string>('evm_snapshot'),
    /** The blocks since the snapshot are not in the chain any more. Those that follow have other hashes. */
    goBack: async (snapshot: string) => {
      if (!(await call<boolean>('evm_revert', snapshot))) throw new Error('the chain cannot go back');
      reorganisations += 1;
      await call('hardhat_setCoinbase', toHex(reorganisations, { size: 20 }));
    },
  };
  return node;
}
export type EvmNode = Awaited<ReturnType<typeof startEvmNode>>;
