import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import type { ConsoleDeps } from '../../src/console/index.ts';
import { startRecovery } from '../../src/payments/index.ts';
import { partnerAt } from '../helpers/api.ts';
import { createPartnerWithKeys, setRate } from '../helpers/partners.ts';
import { openInReview } from '../helpers/review.ts';
import { makeQr, type Simulator } from '../helpers/simulator.ts';

/** A partner that pays, and payments of it in manual review. */
export async function openShop(
  { address, deps }: { address: string; deps: ConsoleDeps },
  name = 'Test shop',
) {
  const { pool, clock } = deps;
  await setRate(pool, clock);
  const { partnerId, liveKey, testKey } = await createPartnerWithKeys(pool);
  await pool.query('UPDATE partners SET name = $1 WHERE id = $2', [name, uuidFromId(partnerId)]);
  const live = partnerAt(address, liveKey);
  return {
    partnerId,
    liveKey,
    testKey,
    /** Pays a QR code of the simulator, with these faults. */
    async pay(bank: Simulator, body: object = {}, ...faults: object[]) {
      const qr = await makeQr(bank);
      for (const fault of faults) await qr.fault(fault);
      const { json } = await live.pay({ qr_url: qr.link, ...body });
      return { ...json, qrUrl: qr.link };
    },
    /** In manual review, and unknown to the bank side. */
    inReview: (amountKopecks = 100_000n) => openInReview(pool, partnerId, { clock, amountKopecks }),
  };
}

/** Polls the bank side about unfinished payments, like a worker, until the end of the test. */
export function startPolling(deps: Parameters<typeof startRecovery>[0]): void {
  const { stop } = startRecovery(deps);
  onTestFinished(() => stop());
}

/** The effects of a payment: ledger entries, decisions and events. */
export async function countEffects({ pool }: ConsoleDeps, paymentId: Id<'pay'>) {
  const { rows } = await pool.query<{
    entries: string[];
    resolutions: number;
    status: string;
    events: number;
  }>(
    `SELECT (SELECT status FROM payments WHERE id = $1)::text AS status,
            ARRAY(SELECT from_account || ' to ' || to_account FROM entries WHERE payment_id = $1 ORDER BY entry_no) AS entries,
            (SELECT count(*)::int FROM audit WHERE action = 'payment.resolve' AND subject = $2) AS resolutions,
            (SELECT count(*)::int FROM events WHERE payment_id = $1) AS events`,
    [uuidFromId(paymentId), paymentId],
  );
  return rows[0]!;
}

/** Decides on the page of a payment: button, reason, confirmation. */
export async function resolve(page: Page, outcome: 'succeeded' | 'failed', reason: string): Promise<void> {
  const name = `Mark as ${outcome}`;
  await page.getByRole('button', { name }).click();
  const dialog = page.getByRole('dialog', { name });
  await dialog.getByLabel('Reason').fill(reason);
  await dialog.getByRole('button', { name }).click();
}
