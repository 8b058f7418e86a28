import { type RecoverDeps, startDuePolls } from '../../src/payments/recovery/recover.ts';

/** One round of the recovery: polls every payment that is due. Returns how many there were. */
export async function recoverDuePayments(deps: RecoverDeps): Promise<number> {
  const { polls } = await startDuePolls(deps);
  await Promise.all(polls.map(({ poll }) => poll));
  return polls.length;
}
