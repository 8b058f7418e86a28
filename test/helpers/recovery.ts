import type { Shards } from '../../src/db/shards/shards.ts';
import type { Mode } from '../../src/ledger/index.ts';
import { type RecoverDeps, startDuePolls } from '../../src/payments/recovery/recover.ts';
import type { Shard } from '../../src/payments/shards/open-shards.ts';
import { inShards } from './shards.ts';

/** One round of the recovery, in every shard: polls every payment that is due. Returns how many there were. */
export async function recoverDuePayments(deps: RecoverDeps & { shards?: Shards<Shard> }): Promise<number> {
  const recover = async (parts: RecoverDeps, mode: Mode) =>
    (await Promise.all((await startDuePolls(parts, mode)).polls)).length;
  const { shards } = deps;
  const all = shards ? inShards({ ...deps, shards }) : [deps];
  const polled = await Promise.all(all.flatMap(parts => [recover(parts, 'live'), recover(parts, 'test')]));
  return polled.reduce((sum, count) => sum + count, 0);
}
