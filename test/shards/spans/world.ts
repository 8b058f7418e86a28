import { afterAll, vi } from 'vitest';
import { createSender, createVault, setWebhook } from '../../../src/webhooks/index.ts';
import { createPartnerWithKeys, keyring, partnerAt, setRate, startApi } from '../../helpers/api.ts';
import { auditContextOf, createDatabase } from '../../helpers/database.ts';
import { shardCount, shardOf, startDeliveries } from '../../helpers/shards.ts';
import { makeQr, startSimulator } from '../../helpers/simulator.ts';
import { startReceiver } from '../../helpers/webhook-receiver.ts';

/**
 * A partner in each shard. Each has a paid, a declined and an unfinished payment, and a webhook that has received the first two.
 * For what spans shards: `npm run test:shards` and `npm run test:citus` run these tests.
 */
export async function startSpansWorld() {
  const { pool } = await createDatabase();
  const simulator = await startSimulator();
  const api = await startApi({ pool, gatewayUrl: simulator.address, answerWithinMs: 0 });
  await setRate(pool);
  const vault = createVault(keyring);
  const sender = createSender({ allowPrivate: true });
  const delivery = startDeliveries({ ...api.deps, vault, sender, webhookRetryScheduleSec: [0, 10] });
  afterAll(async () => {
    await delivery.stop();
    await sender.close();
  });

  // All of them before the first payment: it would decide where the next partner goes.
  const partners = [];
  for (let nth = 0; nth < shardCount; nth++) {
    const customer = await createPartnerWithKeys(pool);
    partners.push({ ...customer, shard: await shardOf(pool, customer.partnerId) });
  }

  const customers = await Promise.all(
    partners.map(async customer => {
      const receiver = await startReceiver();
      await setWebhook(auditContextOf(pool), vault, customer.partnerId, receiver.url);
      const partner = partnerAt(api.address, customer.liveKey);
      const pay = async (externalId: string, ...faults: object[]) => {
        const qr = await makeQr(simulator);
        for (const fault of faults) await qr.fault(fault);
        const { json } = await partner.pay({ qr_url: qr.link, external_id: externalId });
        return { id: json.id as string, status: json.status as string, qr };
      };
      const paid = await pay('paid order');
      const declined = await pay('declined order', { on: 'pay', kind: 'decline' });
      const open = await pay('open order', {
        on: 'pay',
        kind: 'finish_later',
        ms: 86_400_000,
        outcome: 'succeeded',
      });
      delivery.runNow();
      await vi.waitFor(() => {
        if (receiver.received.length < 2) throw new Error('the webhook has not received both events');
      }, 10_000);
      return { ...customer, receiver, partner, pay, paid, declined, open };
    }),
  );
  return { pool, api, simulator, customers, vault };
}
