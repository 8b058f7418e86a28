import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock as clock } from '../src/base/clock.ts';
import { newId, uuidFromId } from '../src/base/ids.ts';
import type { Pool } from '../src/db/postgres/index.ts';
import { credit, openAccounts } from '../src/ledger/index.ts';
import { createPaymentWriter } from '../src/payments/store.ts';
import { openingsOf } from '../test/helpers/openings.ts';
import { median } from './median.ts';

/** Two runs of one database differ by more than the few per cent that are asked about, so it takes many. */
export const pairs = 25;
const payForMs = 3_000;
const concurrency = 64;

export type Progress = (line: string) => void;

/** Payments that are opened and ended per second, without history and with it, in pairs one after the other. */
export async function measurePayments(empty: Pool, full: Pool, progress: Progress) {
  const rates = { empty: [] as number[], full: [] as number[] };
  const payers = { empty: await createPayer(empty), full: await createPayer(full) };
  for (const pay of Object.values(payers)) await pay();
  for (let pair = 0; pair < pairs; pair++)
    for (const name of ['empty', 'full'] as const) {
      progress(`payments, ${name} …`);
      rates[name].push(await payers[name]());
      await sleep(500);
    }
  const ratio = median(rates.full.map((rate, nth) => rate / rates.empty[nth]!));
  return { empty: median(rates.empty), full: median(rates.full), ratio };
}

async function createPayer(pool: Pool): Promise<() => Promise<number>> {
  const partnerId = newId('prt', clock);
  await pool.query(
    "INSERT INTO partners (id, name, live_approved, created_at, concurrent) VALUES ($1, 'Payer', true, now(), 100000)",
    [uuidFromId(partnerId)],
  );
  await openAccounts(pool, partnerId);
  await credit(pool, clock, [{ partnerId, mode: 'live', reference: 'funding', microUsdt: 10n ** 15n }]);
  const opening = await openingsOf(pool, clock);
  const writer = createPaymentWriter(pool, clock);
  return async () => {
    let paid = 0;
    const startedAt = performance.now();
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (performance.now() - startedAt < payForMs) {
          const payment = opening(partnerId);
          const { verdict } = await writer.open(payment);
          if (verdict !== 'opened') throw new Error(verdict);
          await writer.finish({ ...payment, outcome: 'succeeded', orderId: 'o' });
          paid++;
        }
      }),
    );
    return (paid * 1_000) / (performance.now() - startedAt);
  };
}
