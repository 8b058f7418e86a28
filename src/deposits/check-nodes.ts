import { systemClock } from '../base/clock.ts';
import { type DepositChainSettings, depositSetting } from '../base/deposit-settings.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Queryable } from '../db/postgres/index.ts';
import { refuseOtherKey } from './addresses.ts';
import { openDepositChains } from './chain/chains.ts';
import type { DepositChain } from './chain/deposit-chain.ts';
import type { ChainNode } from './chain/node.ts';
import { DisagreementError } from './watch/read-range.ts';
import { verifyNode } from './watch/round.ts';

/**
 * At the start: a node of another network or with another contract is refused. One that does not answer is not: it may be
 * back later, and until then the watcher raises an alarm. Nothing waits for the answers: payments do not need them, and a
 * wrong node that answers late credits nothing, since the watcher checks it, too.
 */
export function startNodeCheck(settings: DepositChainSettings[]) {
  let wrong: OperatorError | undefined;
  const verdict = findWrongNode(settings)
    // A setting of a chain that cannot be used.
    .catch((error: OperatorError) => error)
    .then(found => {
      wrong = found;
      return found;
    });
  return {
    /** Refuses the start if a wrong node is known by now. */
    refuseIfKnownWrong: () => {
      if (wrong) throw wrong;
    },
    /** Resolves with what is wrong with the first wrong node; undefined when all have answered or failed. */
    verdict,
  };
}

async function findWrongNode(settings: DepositChainSettings[]): Promise<OperatorError | undefined> {
  const chains = await openDepositChains(settings, systemClock);
  const { promise, resolve } = Promise.withResolvers<OperatorError | undefined>();
  const checks = [...chains.values()].flatMap(chain =>
    chain.nodes.map(async node => {
      const wrong = await findFault(node, chain);
      if (wrong) resolve(wrong);
    }),
  );
  void Promise.all(checks).then(() => resolve(undefined));
  return promise;
}

const findFault = (node: ChainNode, chain: DepositChain): Promise<OperatorError | undefined> =>
  verifyNode(node, chain).then(
    () => undefined,
    error =>
      error instanceof DisagreementError
        ? new OperatorError(
            `${depositSetting(chain.name, 'RPC')} cannot be used: ${error.message}. Correct the settings of this chain and start again.`,
          )
        : undefined,
  );

/** At the start, once the database is open: a key of which the addresses on record are not. */
export async function refuseOtherKeys(db: Queryable, settings: DepositChainSettings[]): Promise<void> {
  const chains = await openDepositChains(settings, systemClock);
  for (const chain of chains.values()) await refuseOtherKey(db, chain);
}
