import { toHex } from 'viem';
import { createAlarms, listAlarms } from '../../src/alarms/index.ts';
import { readSettings } from '../../src/base/settings.ts';
import { openAddresses, openDepositChains } from '../../src/deposits/index.ts';
import { type Screen, screenDeposits } from '../../src/deposits/screening/screen-deposits.ts';
import { maxRangeBlocks } from '../../src/deposits/watch/halving.ts';
import { runRound } from '../../src/deposits/watch/round.ts';
import { readBalances, verifyLedger } from '../../src/ledger/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { type Chain, createChain, startNode } from '../helpers/chain.ts';
import { endOfTime } from '../helpers/clock.ts';
import { auditContextOf, createTimedDatabase, type TestDatabase } from '../helpers/database.ts';

/** The extended public key of the first test vector of BIP-32, at m/0'. */
export const xpub =
  'xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw';

/** The settings of chains; without any, one node of Ethereum at which nobody listens. */
export const chainSettings = (env: Record<string, string> = {}) =>
  readSettings({
    DEPOSIT_CHAINS: 'ethereum',
    DEPOSIT_ETHEREUM_RPC: 'http://127.0.0.1:1',
    DEPOSIT_ETHEREUM_XPUB: xpub,
    ...env,
  });

export const usdt = 1_000_000n;

/** The record after these deposits of a partner, in USDT, have been credited. */
export const credited = (...amounts: bigint[]) => ({
  balances: [amounts.reduce((sum, amount) => sum + amount) * usdt],
  states: amounts.map(amount => `credited ${amount * usdt}`),
  alarms: [] as string[],
});

type Interfere = NonNullable<Awaited<ReturnType<typeof startNode>>['interfere']>;

/** What a node says instead of its own answer to such calls. */
export const instead =
  (
    method: string,
    answer: ReturnType<Interfere>,
    // biome-ignore lint/suspicious/noExplicitAny: each method has parameters of its own
    isMeant: (params: any[]) => boolean = () => true,
  ): Interfere =>
  (asked, params) =>
    asked === method && isMeant(params) ? answer : undefined;

/** A node has another block with this number. */
export const insteadOfBlock = (
  number: number,
  block: { number?: string; hash?: string; timestamp?: string } = {},
) =>
  instead(
    'eth_getBlockByNumber',
    { result: { number: toHex(number), hash: `0x${'e'.repeat(64)}`, timestamp: '0x1', ...block } },
    ([asked]) => Number(asked) === number,
  );

/** USDT with 18 decimals, at the address of the node. */
export const bnb = {
  name: 'bnb',
  node: { chainId: 56, decimals: 18 },
  env: { DEPOSIT_BNB_CONTRACT: '0xdAC17F958D2ee523a2206206994597C13D831ec7' },
} as const;

interface Options {
  twoNodes?: boolean;
  env?: Record<string, string>;
  name?: 'ethereum' | 'tron' | 'bnb';
  node?: Parameters<typeof startNode>[1];
  /** Whether deposits are screened; tests of screening ask it themselves. */
  isScreened?: boolean;
}

export const readersOf = ({ pool, sql }: Pick<TestDatabase, 'pool' | 'sql'>) => ({
  balanceOf: async (partnerId: Parameters<typeof readBalances>[1]) =>
    (await readBalances(pool, partnerId)).live.availableMicroUsdt,
  states: async (): Promise<string[]> =>
    (await sql`SELECT state, micro_usdt FROM deposits ORDER BY block_number, transaction, ordinal`).map(
      ({ state, micro_usdt }) => `${state} ${micro_usdt}`,
    ),
  cursor: async () => (await sql`SELECT cursor_block FROM deposit_chains`)[0].cursor_block as bigint,
  alarmKinds: async () => (await listAlarms(pool, { cleared: false })).map(({ kind }) => kind),
});

/** A database, a chain with its nodes, and one partner with an address on it. */
export async function startDepositWorld({
  twoNodes = false,
  env = {},
  name = 'ethereum',
  node = {},
  isScreened = false,
}: Options = {}) {
  const { pool, sql, url, clock } = await createTimedDatabase('2025-11-16T13:40:00Z');
  const chain: Chain = createChain(name);
  chain.mineMany(5);
  const nodes = [await startNode(chain, node), ...(twoNodes ? [await startNode(chain, node)] : [])];
  const upper = name.toUpperCase();
  const settings = chainSettings({
    DEPOSIT_CHAINS: name,
    [`DEPOSIT_${upper}_RPC`]: nodes.map(({ url }) => url).join(','),
    [`DEPOSIT_${upper}_XPUB`]: xpub,
    ...env,
  });
  const chains = await openDepositChains(settings.depositChains, clock);
  const depositChain = chains.get(name)!;
  const alarms = createAlarms({ db: pool, clock, log: { warn: () => {} } });
  const partners: (() => Promise<bigint>)[] = [];
  const newPartner = async () => {
    const nth = partners.push(async () => 0n) - 1;
    const { partnerId } = await createPartner(auditContextOf(pool, clock), 'Shop');
    await openAddresses(pool, clock, chains, partnerId);
    const balance = () => world.balanceOf(partnerId);
    partners[nth] = balance;
    return { partnerId, account: depositChain.deriveAddress(partnerId).account, balance };
  };
  const size = { blocks: maxRangeBlocks };
  const world = {
    ...{ pool, sql, url, clock, chain, nodes },
    node: nodes[0]!,
    chains,
    depositChain,
    alarms,
    newPartner,
    size,
    round: (changes: Partial<Parameters<typeof runRound>[0]> = {}) =>
      clock.during(runRound({ pool, clock, alarms, chain: depositChain, isScreened, ...changes }, size)),
    screen: (screen: Screen | undefined) =>
      screenDeposits({ pool, clock, alarms, chain: depositChain, screen }),
    /** Makes everything so far final, and books it. */
    settle: async () => {
      chain.mineMany(chain.notFinal);
      await world.round();
    },
    ...readersOf({ pool, sql }),
    alarmDetails: async () => (await listAlarms(pool, { cleared: false })).map(({ detail }) => detail),
    /** The balances of the partners in their order, all deposits, and the open alarms. */
    record: async () => ({
      balances: await Promise.all(partners.map(balance => balance())),
      states: await world.states(),
      alarms: await world.alarmKinds(),
    }),
    findings: async () => (await verifyLedger(pool, { now: endOfTime })).findings,
  };
  await world.round();
  return world;
}

/** A world with a partner and deposits of these amounts, each in a block of its own, that nobody has read yet. */
export async function startWithDeposits(amounts: bigint[], options: Options = {}) {
  const world = await startDepositWorld(options);
  const partner = await world.newPartner();
  const pay = (units: bigint) => world.chain.mine([{ to: partner.account, units }]);
  const before = BigInt(world.chain.blocks.length - 1);
  for (const units of amounts) pay(units);
  return { ...world, ...partner, pay, before };
}

/** The same, final. */
export async function startWithFinal(amounts: bigint[], options: Options = {}) {
  const world = await startWithDeposits(amounts, options);
  world.chain.mineMany(world.chain.notFinal + 1);
  return world;
}
