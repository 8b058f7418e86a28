import type { Mode } from '../../src/ledger/index.ts';
import { type RecoverDeps, startDuePolls } from '../../src/payments/recovery/recover.ts';

/** One round of the recovery: polls every payment that is due. Returns how many there were. */
export async function recoverDuePayments(deps: RecoverDeps): Promise<number> {
  const recover = async (mode: Mode) => (await Promise.all((await startDuePolls(deps, mode)).polls)).length;
  const [live, test] = await Promise.all([recover('live'), recover('test')]);
  return live + test;
}
