import { randomUUID } from 'node:crypto';
import { afterAll, expect, test, vi } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import { newId, uuidFromId } from '../../src/base/ids.ts';
import { startDelivery } from '../../src/webhooks/delivery/worker.ts';
import { createSender, createVault, setWebhook } from '../../src/webhooks/index.ts';
import { createPartnerWithKeys, keyring, setRate, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { hanging, startReceiver, withStatus } from '../helpers/webhook-receiver.ts';

const { pool } = await createDatabase();
await setRate(pool);
const { deps: apiDeps } = await startApi({ pool });
const vault = createVault(keyring);
// Longer than the test: a wait for a receiver that hangs would not end.
const sender = createSender({ clock, allowPrivate: true, timeoutMs: 300_000 });
afterAll(() => sender.close());

const rateId: bigint = (await pool.query('SELECT max(id) AS id FROM rates')).rows[0].id;
const eventsEach = 200;
const kinds = ['fine', 'fine', 'refuses', 'hangs'] as const;

async function newPartner(kind: (typeof kinds)[number]) {
  const { partnerId } = await createPartnerWithKeys(pool);
  const receiver = await startReceiver();
  if (kind === 'refuses') receiver.answer(withStatus(500));
  if (kind === 'hangs') receiver.answer(hanging);
  await setWebhook(auditContextOf(pool), vault, partnerId, receiver.url);
  const { writer } = apiDeps;
  return { partnerId, kind, receiver, writer };
}

async function finishPayment({ partnerId, writer }: Awaited<ReturnType<typeof newPartner>>): Promise<void> {
  const payment = { partnerId, mode: 'test' as const, paymentId: newId('pay', clock) };
  await writer.open({
    ...payment,
    idempotencyKey: randomUUID(),
    requestHash: Buffer.alloc(32),
    externalId: null,
    qrcId: randomUUID(),
    qrUrl: 'https://qr.nspk.ru/AD1',
    fingerprint: 'f',
    recipient: 'Test',
    amountKopecks: 1_000n,
    microUsdt: 108_109n,
    rateE4: 925_000n,
    rateId,
    rateStaleAt: new Date(clock.nowMs() + 300_000),
    metadata: '{}',
    nextAt: new Date(clock.nowMs() + 600_000),
    leaseHolder: null,
  });
  await writer.finish({ ...payment, outcome: 'succeeded' });
}

test('four thousand events while half of the receivers are dead: the others have all of theirs, and none is lost', async () => {
  const partners = await Promise.all(
    Array.from({ length: 20 }, (_, index) => newPartner(kinds[index % kinds.length]!)),
  );
  for (let made = 0; made < eventsEach; made += 25)
    await Promise.all(partners.flatMap(partner => Array.from({ length: 25 }, () => finishPayment(partner))));

  const delivery = startDelivery({ ...apiDeps, vault, sender, webhookRetryScheduleSec: [0, 3_600] });
  const healthy = partners.filter(({ kind }) => kind === 'fine');
  await vi.waitFor(
    () =>
      expect(healthy.map(({ receiver }) => receiver.received.length)).toEqual(healthy.map(() => eventsEach)),
    { timeout: 120_000, interval: 50 },
  );
  await delivery.stop();

  for (const { partnerId, kind, receiver } of partners) {
    const { rows } = await pool.query('SELECT event_id FROM deliveries WHERE partner_id = $1', [
      uuidFromId(partnerId),
    ]);
    const kept = new Set(rows.map(row => `evt_${row.event_id}`));
    const answered = kind === 'fine' ? receiver.received.map(({ json }) => json.id) : [];
    expect(new Set([...kept, ...answered]).size).toBe(eventsEach);
    expect(new Set(answered).size).toBe(answered.length);
  }
}, 240_000);
