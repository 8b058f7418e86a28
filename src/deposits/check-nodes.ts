import { type DepositChainSettings, depositSetting } from '../base/deposit-settings.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Queryable } from '../db/pool.ts';
import { refuseOtherKey } from './addresses.ts';
import { openDepositChains } from './chain/chains.ts';
import type { DepositChain } from './chain/deposit-chain.ts';
import type { ChainNode } from './chain/node.ts';
import { DisagreementError } from './watch/read-range.ts';
import { verifyNode } from './watch/round.ts';

/**
 * At the start: a node of another network or with another contract is refused. One that does not answer is not: it may be
 * back later, and until then the watcher raises an alarm. All are asked at once, so that silent ones delay the start by
 * one time-out.
 */
export async function refuseWrongNodes(settings: DepositChainSettings[]): Promise<void> {
  const chains = await openDepositChains(settings);
  const checks = [...chains.values()].flatMap(chain => chain.nodes.map(node => refuseIfWrong(node, chain)));
  await Promise.all(checks);
}

async function refuseIfWrong(node: ChainNode, chain: DepositChain): Promise<void> {
  try {
    await verifyNode(node, chain);
  } catch (error) {
    if (error instanceof DisagreementError)
      throw new OperatorError(
        `${depositSetting(chain.name, 'RPC')} cannot be used: ${error.message}. Correct the settings of this chain and start again.`,
      );
  }
}

/** At the start, once the database is open: a key of which the addresses on record are not. */
export async function refuseOtherKeys(db: Queryable, settings: DepositChainSettings[]): Promise<void> {
  const chains = await openDepositChains(settings);
  for (const chain of chains.values()) await refuseOtherKey(db, chain);
}
