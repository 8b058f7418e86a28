import { createAlarms, listAlarms } from '../../src/alarms/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import { readSettings } from '../../src/base/settings.ts';
import { openAddresses, openDepositChains } from '../../src/deposits/index.ts';
import type { Screen } from '../../src/deposits/screening/ask.ts';
import { screenDeposits } from '../../src/deposits/screening/screen-deposits.ts';
import { maxRangeBlocks } from '../../src/deposits/watch/halving.ts';
import { runRound } from '../../src/deposits/watch/round.ts';
import { readBalances } from '../../src/ledger/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { type Chain, createChain, startNode } from '../helpers/chain.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';

/** The extended public key of the first test vector of BIP-32, at m/0'. */
export const xpub =
  'xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw';

interface Options {
  twoNodes?: boolean;
  env?: Record<string, string>;
  name?: 'ethereum' | 'tron' | 'bnb';
  node?: Parameters<typeof startNode>[1];
  /** Whether deposits are screened; tests of screening ask it themselves. */
  isScreened?: boolean;
}

/** A database, a chain with its nodes, and one partner with an address on it. */
export async function startDepositWorld({
  twoNodes = false,
  env = {},
  name = 'ethereum',
  node = {},
  isScreened = false,
}: Options = {}) {
  const { pool, url } = await createDatabase();
  const clock = manualClock('2025-11-16T13:40:00Z');
  const chain: Chain = createChain(name);
  chain.mineMany(5);
  const nodes = [await startNode(chain, node), ...(twoNodes ? [await startNode(chain, node)] : [])];
  const upper = name.toUpperCase();
  const settings = readSettings({
    DEPOSIT_CHAINS: name,
    [`DEPOSIT_${upper}_RPC`]: nodes.map(({ url }) => url).join(','),
    [`DEPOSIT_${upper}_XPUB`]: xpub,
    ...env,
  });
  const chains = await openDepositChains(settings.depositChains, systemClock);
  const depositChain = chains.get(name)!;
  const alarms = createAlarms({ db: pool, clock, log: { warn: () => {} } });
  const newPartner = async () => {
    const { partnerId } = await createPartner(auditContextOf(pool, clock), 'Shop');
    await openAddresses(pool, clock, chains, partnerId);
    return { partnerId, account: depositChain.deriveAddress(partnerId).account };
  };
  const size = { blocks: maxRangeBlocks };
  const world = {
    pool,
    url,
    clock,
    chain,
    nodes,
    node: nodes[0]!,
    chains,
    depositChain,
    alarms,
    newPartner,
    size,
    round: () => clock.during(runRound({ pool, clock, alarms, chain: depositChain, isScreened }, size)),
    screen: (screen: Screen | undefined) =>
      screenDeposits({ pool, clock, alarms, chain: depositChain, screen }),
    /** Makes everything so far final, and books it. */
    settle: async () => {
      chain.mineMany(chain.notFinal);
      await world.round();
    },
    balanceOf: async (partnerId: Parameters<typeof readBalances>[1]) =>
      (await readBalances(pool, partnerId)).live.availableMicroUsdt,
    states: async () =>
      (
        await pool.query<{ state: string; micro_usdt: bigint }>(
          'SELECT state, micro_usdt FROM deposits ORDER BY block_number, transaction, ordinal',
        )
      ).rows.map(row => `${row.state} ${row.micro_usdt}`),
    alarmKinds: async () => (await listAlarms(pool, { cleared: false })).map(({ kind }) => kind),
    alarmDetails: async () => (await listAlarms(pool, { cleared: false })).map(({ detail }) => detail),
  };
  await world.round();
  return world;
}
