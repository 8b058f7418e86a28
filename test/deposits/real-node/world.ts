import { createAlarms } from '../../../src/alarms/index.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { ChainName } from '../../../src/base/deposit-settings.ts';
import { readSettings } from '../../../src/base/settings.ts';
import { formatAddress } from '../../../src/deposits/chain/open-chain.ts';
import { openAddresses, openDepositChains } from '../../../src/deposits/index.ts';
import { maxRangeBlocks } from '../../../src/deposits/watch/halving.ts';
import { runRound } from '../../../src/deposits/watch/round.ts';
import { createPartner } from '../../../src/partners/index.ts';
import { manualClock } from '../../helpers/clock.ts';
import { auditContextOf, createDatabase } from '../../helpers/database.ts';
import { type EvmNode, evmChainId, startEvmNode } from '../../helpers/evm-node.ts';
import { newFolder } from '../../helpers/folders.ts';
import { secretKey } from '../../helpers/partners.ts';
import { readersOf, usdt, xpub } from '../world.ts';
import { type Call, type NodeProxy, startNodeProxy } from './node-proxy.ts';

export { usdt };
export const confirmations = 2;

/** Whether a node is asked for the logs of one block, by its hash. */
export const isByHash = ({ method, params }: Call) => method === 'eth_getLogs' && 'blockHash' in params[0];

interface Options {
  name?: ChainName;
  env?: Record<string, string>;
  /** Stands between the node and the service from the beginning. */
  interfere?: NodeProxy['interfere'];
}

/** A real node with a token, and the settings of a service that watches it. */
async function startRealChain({ name = 'ethereum', interfere }: Options) {
  const node: EvmNode = await startEvmNode();
  const token = await node.deployToken();
  await node.mine(confirmations);
  const proxy = await startNodeProxy(node);
  proxy.interfere = interfere;
  const upper = name.toUpperCase();
  const env: Record<string, string> = {
    [`DEPOSIT_${upper}_RPC`]: proxy.url,
    [`DEPOSIT_${upper}_XPUB`]: xpub,
    [`DEPOSIT_${upper}_CONTRACT`]: name === 'tron' ? formatAddress('base58', token) : token,
    [`DEPOSIT_${upper}_CHAIN_ID`]: `${evmChainId}`,
    [`DEPOSIT_${upper}_CONFIRMATIONS`]: `${confirmations}`,
  };
  return { node, token, proxy, env };
}

/** A database, a real node, and partners with addresses on its chain. */
export async function startRealWorld(options: Options = {}) {
  const { name = 'ethereum' } = options;
  const { pool, sql, url } = await createDatabase();
  const { node, token, proxy, ...chain } = await startRealChain(options);
  const env = { DATABASE_URL: url, DEPOSIT_CHAINS: name, ...chain.env, ...options.env };
  const chains = await openDepositChains(readSettings(env).depositChains, systemClock);
  const depositChain = chains.get(name)!;
  // The blocks have the time of the machine.
  const clock = manualClock(new Date().toISOString());
  const alarms = createAlarms({ db: pool, clock, log: { warn: () => {} } });
  const size = { blocks: maxRangeBlocks };
  const world = {
    ...{ pool, sql, clock, env, node, token, proxy, chains, depositChain, alarms },
    round: () => runRound({ pool, clock, alarms, chain: depositChain, isScreened: false }, size),
    newPartner: async () => {
      const { partnerId } = await createPartner(auditContextOf(pool), 'Shop');
      const [opened] = await openAddresses(pool, clock, chains, partnerId);
      return { partnerId, account: depositChain.deriveAddress(partnerId).account, address: opened!.address };
    },
    /** Makes everything so far final, and books it. */
    settle: async () => {
      await node.mine(confirmations + 1);
      await world.round();
    },
    ...readersOf({ pool, sql }),
    /** In the order of the logs. */
    states: async (): Promise<string[]> =>
      (await sql`SELECT state, micro_usdt FROM deposits ORDER BY block_number, log_index`).map(
        ({ state, micro_usdt }) => `${state} ${micro_usdt}`,
      ),
    /** Whether there are deposits, and all of them are credited. */
    areCredited: async () =>
      (await sql`SELECT coalesce(bool_and(state = 'credited'), false) AS are_credited FROM deposits`)[0]
        .are_credited,
  };
  await world.round();
  return world;
}
export type RealWorld = Awaited<ReturnType<typeof startRealWorld>>;

/** Of a `kopeck start` that watches the chain of this world. */
export const serviceEnv = (world: RealWorld) => ({
  ...world.env,
  SECRET_KEY: secretKey,
  GATEWAY_URL: 'http://127.0.0.1:1',
  RATE_SOURCES: 'fixed:92.50',
  DATA_DIR: newFolder(),
});
