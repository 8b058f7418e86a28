import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { systemClock as clock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { openPool } from '../../src/db/pool.ts';
import { createPaymentWriter } from '../../src/payments/index.ts';
import type { PayingPartner } from './partners.ts';
import { ending, opening } from './statements.ts';

/** The baseline without pgbench: one writer per connection, so that every batch has one payment. */
export async function measureOneByOne(
  connection: pg.ClientConfig,
  partners: PayingPartner[],
  rateId: bigint,
  connections: number,
  seconds: number,
): Promise<number> {
  const pool = openPool(connection, connections);
  let done = 0;
  let isStopped = false;
  try {
    const clients = await Promise.all(Array.from({ length: connections }, () => pool.connect()));
    const loops = clients.map(async client => {
      const writer = createPaymentWriter(client, clock);
      try {
        for (; !isStopped; done++)
          await payAlone(writer, partners[Math.floor(Math.random() * partners.length)]!, rateId);
      } finally {
        client.release();
      }
    });
    const finished = Promise.all(loops);
    // A failure is thrown by the await below; until then it must not count as unhandled.
    finished.catch(() => {});
    await sleep(seconds * 500);
    const [startedAt, doneBefore] = [performance.now(), done];
    await Promise.race([sleep(seconds * 1_000), finished]);
    const rate = ((done - doneBefore) * 1_000) / (performance.now() - startedAt);
    isStopped = true;
    await finished;
    return rate;
  } finally {
    isStopped = true;
    await pool.end();
  }
}

async function payAlone(
  writer: ReturnType<typeof createPaymentWriter>,
  { partnerId }: PayingPartner,
  rateId: bigint,
): Promise<void> {
  const paymentKey = { partnerId, paymentId: newId('pay', clock) };
  const code = `AD${randomUUID().replaceAll('-', '').toUpperCase().slice(0, 30)}`;
  const link = `https://qr.nspk.ru/${code}?type=02&sum=1000&cur=RUB`;
  const names = { key: randomUUID(), code, link, rateId };
  const { verdict } = await writer.open(opening(paymentKey, names, clock.nowMs()));
  const { changed } = await writer.finish(ending(paymentKey));
  if (verdict !== 'opened' || !changed) throw new Error(`a payment of the baseline was ${verdict}`);
}
