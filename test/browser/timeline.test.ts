import { afterAll, expect, test } from 'vitest';
import { readSecrets, setWebhook, startDelivery } from '../../src/webhooks/index.ts';
import { createDatabase } from '../helpers/database.ts';
import { auditContextOf, secretKey } from '../helpers/partners.ts';
import { startSimulator } from '../helpers/simulator.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';
import { openShop, startPolling } from './shop.ts';
import { describeInBrowser, findBarriers, openWorld } from './world.ts';

describeInBrowser('one payment', async browser => {
  const { pool } = await createDatabase();
  const gatewayToken = 'a-token-that-nobody-may-see';
  const bank = await startSimulator({ GATEWAY_TOKEN: gatewayToken });
  const world = await openWorld({ pool, gatewayUrl: bank.address, gatewayToken }, browser);
  const { deps } = world;
  const shop = await openShop(world);
  const receiver = await startReceiver();
  await setWebhook(auditContextOf(pool), deps.vault, shop.partnerId, receiver.url);
  const delivery = startDelivery({ ...deps, log: { warn: () => {}, error: () => {} } });
  afterAll(() => delivery.stop());

  test('shows everything from creation to delivery, with requests and responses, without secrets', async () => {
    const page = await world.as('support', { name: 'vera' });
    const paying = shop.pay(bank, { external_id: 'order 9' }, { on: 'pay', kind: 'answer_lost', times: 1 });
    await page.goto('/console/review');
    await page.getByRole('table', { name: 'Manual review' }).getByRole('link').click();
    const timeline = page.getByRole('list').filter({ hasText: 'Held on the balance' });
    await timeline.getByText('Sent to manual review').waitFor();
    await page.getByRole('button', { name: 'Check status' }).click();
    await page.getByText('Status check requested. The result appears in the timeline.').waitFor();
    startPolling(deps);
    await timeline.getByText('Delivered').waitFor();
    await paying;
    await page.getByText('Succeeded', { exact: true }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Mark as failed' }).count()).toBe(0);

    const items = (await timeline.getByRole('listitem').allInnerTexts()).map(text =>
      text.replaceAll(/\s+/g, ' '),
    );
    const expected = [
      /Gateway QR code read/,
      /Payment Created/,
      /Ledger Held on the balance .*USDT, entry/,
      /Gateway Payment sent/,
      /Payment Sent to manual review/,
      /Operator Status check requested by vera/,
      /Gateway Status checked .*succeeded/,
      /Ledger Debited/,
      /Payment Succeeded/,
      /Event Event created: payment succeeded .*evt_/,
      /Webhook Delivered .*attempt 1, HTTP 200/,
    ];
    for (const one of expected)
      expect(
        items.some(text => one.test(text)),
        `${one} in ${items.join('\n')}`,
      ).toBe(true);

    const said = page.getByText('Request and response');
    for (const one of await said.all()) await one.click();
    await timeline.getByText('"state": "succeeded"').first().waitFor();
    expect(await timeline.getByText('"amount_kopecks": 15000').count()).toBeGreaterThan(0);
    expect(await findBarriers(page)).toEqual([]);

    const [webhookSecret = 'none'] = await readSecrets(pool, deps.vault, shop.partnerId, Date.now());
    const everything = await page.content();
    expect(everything).toContain('order 9');
    for (const secret of [gatewayToken, shop.liveKey, shop.testKey, webhookSecret, secretKey])
      expect(everything).not.toContain(secret);
    expect(everything).not.toMatch(/authorization|bearer/i);
  });
});
