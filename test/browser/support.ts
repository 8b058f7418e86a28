import { expect, onTestFinished, test } from 'vitest';
import { createPartner } from '../../src/partners/index.ts';
import { readSecrets, setWebhook, startDelivery } from '../../src/webhooks/index.ts';
import { auditContextOf, secretKey } from '../helpers/partners.ts';
import { sendRequest } from '../helpers/raw-http.ts';
import type { Simulator } from '../helpers/simulator.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';
import { answered, store } from '../request-log/requests.ts';
import { openByMenu, press, rowOf } from './page-actions.ts';
import { openShop, startPolling } from './shop.ts';
import { findBarriers, untilLoaded, type World } from './world.ts';

/** Support explains what happened to a payment, and to a request. */
export async function testSupport(world: World, bank: Simulator, gatewayToken: string) {
  const { deps, pool } = world;
  const shop = await openShop(world, 'Kiosk');

  test('a payment shows everything from creation to delivery, with requests and responses, without secrets', async () => {
    const receiver = await startReceiver();
    await setWebhook(auditContextOf(pool), deps.vault, shop.partnerId, receiver.url);
    const delivery = startDelivery({ ...deps, log: { warn: () => {}, error: () => {} } });
    deps.signals.paymentFinished.subscribe(delivery.runNow);
    onTestFinished(() => delivery.stop());
    const page = await world.as('support', { name: 'nina' });
    await page.goto('/console/review');
    const lost = { on: 'pay', kind: 'answer_lost', times: 1 };
    const paying = shop.pay(bank, { external_id: 'order 9' }, lost);
    const row = rowOf(page.getByRole('table', { name: 'Manual review' }), 'result unknown');
    await row.getByText('Manual review').waitFor();
    await row.getByRole('link').first().click();
    const timeline = page.getByRole('list').filter({ hasText: 'Held on the balance' });
    await timeline.getByText('Sent to manual review').waitFor();
    await press(page, 'Check status');
    await page.getByText('Status check requested. The result appears in the timeline.').waitFor();
    startPolling(deps);
    await timeline.getByText('Delivered').waitFor();
    await paying;
    await page.getByText('Succeeded', { exact: true }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Mark as failed' }).count()).toBe(0);

    const items = (await timeline.getByRole('listitem').allInnerTexts()).map(text =>
      text.replaceAll(/\s+/g, ' '),
    );
    for (const one of [
      /Gateway QR code read/,
      /Payment Created/,
      /Ledger Held on the balance .*USDT, entry/,
      /Gateway Payment sent/,
      /Payment Sent to manual review/,
      /Operator Status check requested by nina/,
      /Gateway Status checked .*succeeded/,
      /Ledger Debited/,
      /Payment Succeeded/,
      /Event Event created: payment succeeded .*evt_/,
      /Webhook Delivered .*attempt 1, HTTP 200/,
    ])
      expect(items).toContainEqual(expect.stringMatching(one));

    for (const one of await page.getByText('Request and response').all()) await one.click();
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

  /** Not the page itself. */
  const isList = ({ pathname }: URL) => pathname.endsWith('/api/request-log');

  test('a request is found by its id, and its payment and partner from there', async () => {
    const paid = await shop.pay(bank);
    const refusedId = (await sendRequest(world.address, { path: '/v1/balance' })).headers['x-request-id']!;
    const page = await world.as('support');
    const table = page.getByRole('table', { name: 'API requests' }).locator('tbody');
    await page.goto('/console/');
    await openByMenu(page, 'API requests');
    await page.getByLabel('Request ID').fill(refusedId);
    await press(page, 'Search');
    const row = rowOf(table, 'GET /v1/balance');
    await row.getByText('401').waitFor();
    await row.getByText('unauthorized').waitFor();
    await row.getByText('Unknown (key missing, not valid or not checked)').waitFor();
    await expect.poll(() => table.getByRole('row').count()).toBe(1);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ request_id: refusedId });

    await press(page, 'Clear');
    await page.getByLabel('Partner').fill('kiosk');
    await page.getByLabel('Status').selectOption('2xx: success');
    await rowOf(table, 'POST /v1/payments').getByRole('link', { name: 'POST /v1/payments' }).first().click();
    await page.getByText(paid.id).first().waitFor();
    const requestId = page.getByRole('link', { name: /^req_/ });
    const id = (await requestId.textContent())!;
    await requestId.click();
    await page.getByRole('heading', { name: 'API requests' }).waitFor();
    expect(await page.getByLabel('Request ID').inputValue()).toBe(id);
    await table.getByRole('link', { name: 'Kiosk' }).click();
    await page.getByRole('heading', { name: 'Kiosk' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'API requests' }).click();
    await expect.poll(() => page.getByLabel('Partner').inputValue()).toBe(shop.partnerId);
    await rowOf(table, 'POST /v1/payments').first().waitFor();

    world.announceRefusals(422);
    for (const name of ['Twins', 'twins']) await createPartner(auditContextOf(pool), name);
    await press(page, 'Clear');
    await page.getByLabel('Request ID').fill('req_1');
    await press(page, 'Search');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Request ID').fill('');
    await page.getByLabel('Partner').fill('twins');
    await press(page, 'Search');
    await page.getByText('Several partners match this name').waitFor();
  });

  test('the log of requests grows page by page, and is polled until a filter or an error', async () => {
    await store(pool, ...Array.from({ length: 60 }, () => answered({ route: '/v1/rate', method: 'GET' })));
    world.announceRefusals(422);
    const page = await world.as('viewer');
    await page.clock.install();
    const table = page.getByRole('table', { name: 'API requests' });
    let asked = 0;
    page.on('response', response => {
      if (isList(new URL(response.url()))) asked += 1;
    });
    await page.goto('/console/request-log?path=/v1/rate&status=200');
    await table.getByRole('row').nth(50).waitFor();
    expect(await page.getByLabel('Status').locator('option:checked').textContent()).toBe('200');
    await press(page, 'Show more');
    await table.getByRole('row').nth(60).waitFor();
    expect(await table.locator('tbody').getByRole('row').count()).toBe(60);
    const filtered = asked;
    await page.clock.runFor(30_000);
    await untilLoaded(page);
    expect(asked).toBe(filtered);

    await page.getByLabel('Error code').fill('no_such_code');
    await press(page, 'Search');
    await page.getByText('No requests found').waitFor();
    const isEmpty = { data: [], next_cursor: 'req_01kaaaaaaaaaaaaaaaaaaaaaaa' };
    await page.route(isList, route => route.fulfill({ json: isEmpty }));
    await page.getByLabel('Error code').fill('rare');
    await press(page, 'Search');
    await page.getByText('No requests found so far').waitFor();
    await page.getByRole('button', { name: 'Show more' }).waitFor();
    await page.unroute(isList);

    await press(page, 'Clear');
    await table.waitFor();
    const unfiltered = asked;
    await page.clock.runFor(6_000);
    await expect.poll(() => asked).toBeGreaterThan(unfiltered);
    const refusal = { status: 422, json: { error: { code: 'invalid_request', message: 'Wrong.' } } };
    await page.route(isList, route => route.fulfill(refusal));
    await page.clock.runFor(6_000);
    await page.getByRole('alert').waitFor();
    const last = asked;
    await page.clock.runFor(30_000);
    await untilLoaded(page);
    expect(asked).toBe(last);
  });
}
