import { startConsole } from '../helpers/console.ts';
import { createDatabase, createFundedPartner, setRate } from '../helpers/database.ts';
import { openInReview } from '../helpers/review.ts';
import { startSimulator } from '../helpers/simulator.ts';

/** The console with a simulated bank, an operator of each role, and payments that wait for review. */
export async function startPaymentsConsole() {
  const { pool, sql } = await createDatabase();
  const bank = await startSimulator();
  const audit = await startConsole({ pool, gatewayUrl: bank.address });
  await setRate(pool);
  const partnerId = await createFundedPartner(pool, 10_000_000_000n);
  await pool.query('UPDATE partners SET concurrent = 1000');
  return {
    ...{ pool, sql, bank, audit, partnerId },
    viewer: await audit.signIn('viewer'),
    support: await audit.signIn('support'),
    finance: await audit.signIn('finance'),
    open: (amountKopecks?: bigint) =>
      openInReview(pool, partnerId, amountKopecks === undefined ? {} : { amountKopecks }),
  };
}

export const resolution = {
  outcome: 'succeeded',
  reason: 'the bank says so',
  expected_status_detail: 'manual_review',
};
