import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { encodeEventTopics, getAddress, keccak256, pad, parseAbi, toFunctionSelector, toHex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';

const [transferTopic] = encodeEventTopics({
  abi: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']),
});
const selectors = {
  decimals: toFunctionSelector('decimals()'),
  balanceOf: toFunctionSelector('balanceOf(address)'),
  transfer: toFunctionSelector('transfer(address,uint256)'),
};

const operations = {
  ADD: '01',
  LT: '10',
  EQ: '14',
  ISZERO: '15',
  SHR: '1c',
  CALLER: '33',
  CALLDATALOAD: '35',
  CALLDATASIZE: '36',
  MSTORE: '52',
  SLOAD: '54',
  SSTORE: '55',
  JUMP: '56',
  JUMPI: '57',
  DUP1: '80',
  DUP2: '81',
  SWAP1: '90',
  LOG3: 'a3',
  RETURN: 'f3',
} as const;
const jumpDestination = '5b';

/**
 * `0x…` pushes these bytes, a name with a colon is a label, `@name` pushes its place, and everything else is an operation.
 * What stands right of `;` is the stack after the line, with its top at the right.
 */
function assemble(source: string): string {
  const tokens = source
    .split('\n')
    .flatMap(line => line.split(';')[0]!.trim().split(/\s+/))
    .filter(token => token !== '');
  const places = new Map<string, string>();
  const codeOf = (token: string, at: number): string => {
    if (token.endsWith(':')) {
      places.set(`@${token.slice(0, -1)}`, toHex(at, { size: 1 }).slice(2));
      return jumpDestination;
    }
    // PUSH1 is 60, PUSH32 is 7f.
    if (token.startsWith('0x')) return (0x5f + (token.length - 2) / 2).toString(16) + token.slice(2);
    if (token.startsWith('@')) return `60${places.get(token) ?? '00'}`;
    return operations[token as keyof typeof operations];
  };
  // Labels that come later are known the second time.
  const pass = () => tokens.reduce((code, token) => code + codeOf(token, code.length / 2), '');
  pass();
  return pass();
}

/**
 * A token with as much of ERC-20 as a watcher and a sweep see: `decimals()`, `balanceOf(address)` and `transfer(address,uint256)`.
 * A transfer may have more pairs of an account and a value: then it is a payout to several accounts in one transaction. Tokens
 * come from nowhere: the sender needs none.
 */
const runtimeOf = (decimals: number) =>
  assemble(`
    0x00 CALLDATALOAD 0xe0 SHR             ; selector
    DUP1 ${selectors.decimals} EQ @decimals JUMPI
    DUP1 ${selectors.balanceOf} EQ @balance JUMPI
    0x04                                   ; selector place
  next:
    CALLDATASIZE DUP2 LT ISZERO @end JUMPI
    DUP1 0x20 ADD CALLDATALOAD             ; selector place value
    DUP1 0x00 MSTORE
    DUP2 CALLDATALOAD                      ; selector place value receiver
    SWAP1 DUP2 SLOAD ADD                   ; selector place receiver balance
    DUP2 SSTORE                            ; selector place receiver
    CALLER ${transferTopic} 0x20 0x00 LOG3 ; selector place
    0x40 ADD @next JUMP
  end:
    0x01 @answer JUMP
  decimals:
    ${toHex(decimals, { size: 1 })} @answer JUMP
  balance:
    0x04 CALLDATALOAD SLOAD
  answer:
    0x00 MSTORE 0x20 0x00 RETURN
  `);

/** Copies what follows it, which is the contract, and returns it: CODECOPY is 39. */
function deploymentOf(runtime: string): `0x${string}` {
  return `0x60${(runtime.length / 2).toString(16).padStart(2, '0')}80600b6000396000f3${runtime}`;
}

const tokenDeployment = (decimals: number) => deploymentOf(runtimeOf(decimals));

interface TokenTransfer {
  account: string;
  units: bigint;
}

const word = (hex: `0x${string}`) => pad(hex, { size: 32 }).slice(2);

const transferData = (transfers: TokenTransfer[]): string =>
  selectors.transfer +
  transfers.map(({ account, units }) => word(account as `0x${string}`) + word(toHex(units))).join('');

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
