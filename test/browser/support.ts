import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { decidePayment } from '../../src/payments/index.ts';
import { readSecrets, setWebhook, startDelivery } from '../../src/webhooks/index.ts';
import { auditContextOf, secretKey } from '../helpers/partners.ts';
import { sendRequest } from '../helpers/raw-http.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import type { Simulator } from '../helpers/simulator.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';
import { answered, store } from '../request-log/requests.ts';
import { openByMenu, press, resolve, rowOf } from './page-actions.ts';
import { openShop } from './sample-data.ts';
import { findBarriers, untilLoaded, type World } from './world.ts';

/** Support explains what happened to a payment and to a request, and decides payments that the bank side does not. */
export async function testSupport(world: World, bank: Simulator, gatewayToken: string) {
  const { deps, pool } = world;
  const shop = await openShop(world, 'Kiosk');

  test('a payment shows everything from creation to delivery, with requests and responses, without secrets', async () => {
    const receiver = await startReceiver();
    await setWebhook(auditContextOf(pool), deps.vault, shop.partnerId, receiver.url);
    const delivery = startDelivery({ ...deps, log: { warn: () => {}, error: () => {} } });
    deps.signals.eventWritten.subscribe(delivery.runNow);
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
    await recoverDuePayments(deps);
    await timeline.getByText('Delivered').waitFor();
    await paying;
    await page.getByText('Succeeded', { exact: true }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Mark as failed' }).count()).toBe(0);

    const items = await timeline.getByRole('listitem').allInnerTexts();
    for (const one of [
      /Gateway\s+QR code read/,
      /Payment\s+Sent to manual review/,
      /Ledger\s+Held on the balance.*USDT, entry/s,
      /Operator\s+Status check requested\s+by nina/,
      /Gateway\s+Status checked.*succeeded/s,
      /Event\s+Event created: payment succeeded.*evt_/s,
      /Webhook\s+Delivered.*attempt 1, HTTP 200/s,
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
    const refused = await sendRequest(world.address, { path: '/v1/balance' });
    const refusedId = refused.headers['x-request-id'] as Id<'req'>;
    // The log is written in the background, and a search for an id is not repeated.
    const stored = {
      text: 'SELECT FROM api_requests WHERE request_id = $1',
      values: [uuidFromId(refusedId)],
    };
    await expect.poll(async () => (await pool.query(stored)).rowCount).toBe(1);
    const page = await world.as('support');
    const table = page.getByRole('table', { name: 'API requests' }).locator('tbody');
    await page.goto('/console/request-log');
    await page.getByLabel('Request ID').fill(refusedId);
    await press(page, 'Search');
    const row = rowOf(table, 'GET /v1/balance');
    await row.getByText('Unknown (key missing, not valid or not checked)').waitFor();
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ request_id: refusedId });

    await press(page, 'Clear');
    await page.getByLabel('Partner').fill('kiosk');
    await page.getByLabel('Status').selectOption('2xx: success');
    await rowOf(table, 'POST /v1/payments').getByRole('link', { name: 'POST /v1/payments' }).first().click();
    await page.getByText(paid.id).first().waitFor();
    await page.getByRole('link', { name: /^req_/ }).click();
    await page.getByRole('heading', { name: 'API requests' }).waitFor();
    await table.getByRole('link', { name: 'Kiosk' }).click();
    await page.getByRole('heading', { name: 'Kiosk' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'API requests' }).click();
    await rowOf(table, 'POST /v1/payments').first().waitFor();
    expect(await page.getByLabel('Partner').inputValue()).toBe(shop.partnerId);
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
    await press(page, 'Show more');
    await table.getByRole('row').nth(60).waitFor();
    expect(await table.locator('tbody').getByRole('row').count()).toBe(60);
    const filtered = asked;
    await page.clock.runFor(30_000);
    await untilLoaded(page);
    expect(asked).toBe(filtered);

    const isEmpty = { data: [], next_cursor: 'req_01kaaaaaaaaaaaaaaaaaaaaaaa' };
    await page.route(isList, route => route.fulfill({ json: isEmpty }));
    await page.getByLabel('Error code').fill('rare');
    await press(page, 'Search');
    await page.getByText('No requests found so far').waitFor();
    await page.getByRole('button', { name: 'Show more' }).waitFor();
    await page.unroute(isList);

    await press(page, 'Clear');
    await table.waitFor();
    const next = page.waitForResponse(response => isList(new URL(response.url())));
    await page.clock.runFor(6_000);
    await next;
    const refusal = { status: 422, json: { error: { code: 'invalid_request', message: 'Wrong.' } } };
    await page.route(isList, route => route.fulfill(refusal));
    await page.clock.runFor(6_000);
    await page.getByRole('alert').waitFor();
    const last = asked;
    await page.clock.runFor(30_000);
    await untilLoaded(page);
    expect(asked).toBe(last);
  });

  test('a payment is decided with a reason, by one request; a lost answer and an outdated page are shown', async () => {
    const page = await world.as('support', { name: 'vera' });
    const [paid, unpaid, decided] = [await shop.inReview(), await shop.inReview(), await shop.inReview()];
    let sent = 0;
    page.on('request', request => {
      if (request.url().endsWith('/resolve')) sent += 1;
    });
    await page.goto('/console/review');
    await page.getByRole('link', { name: paid.slice(-8) }).click();
    await press(page, 'Mark as succeeded');
    const dialog = page.getByRole('dialog', { name: 'Mark as succeeded' });
    expect(await dialog.getByText('a second operator').count()).toBe(0);
    const confirm = dialog.getByRole('button', { name: 'Mark as succeeded' });
    expect(await confirm.isDisabled()).toBe(true);
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await press(page, 'Mark as succeeded');
    await dialog.getByLabel('Reason').fill('the bank says so');
    await confirm.dblclick();
    await page.getByText('Payment resolved').waitFor();
    await page.getByText('by vera').waitFor();
    await page.getByText('reason: the bank says so').waitFor();
    expect(sent).toBe(1);

    // The answer is lost: the page does not know, says so, and does not send it again.
    await openByMenu(page, 'Manual review');
    await page.getByRole('link', { name: unpaid.slice(-8) }).click();
    world.announce(/net::ERR/);
    await page.route('**/resolve', async route => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await resolve(page, 'failed', 'never left the bank');
    const alert = page.getByRole('alert');
    await alert.getByText('The action may have been completed: check the current state').waitFor();
    await press(page, 'Cancel');
    await page.getByText('Returned to the balance').waitFor();
    expect(sent).toBe(2);
    await page.unroute('**/resolve');

    await page.goto(`/console/payments/${decided}`);
    await page.getByRole('button', { name: 'Mark as failed' }).waitFor();
    // The page gets no update about the next change.
    const state = `**/console/api/payments/${decided}`;
    await page.route(state, () => {});
    const decision = { outcome: 'succeeded', reason: 'at the command line' } as const;
    await decidePayment(auditContextOf(pool), decided, decision);
    world.announceRefusals(409);
    await resolve(page, 'failed', 'never left the bank');
    await alert.getByText('This payment is already completed and can no longer be changed.').waitFor();
    await page.unroute(state);
    await page.reload();
    await page.getByText('reason: at the command line').waitFor();
  });

  test('above the threshold another operator refuses, the requester withdraws, one of two approvals counts', async () => {
    const path = `/console/payments/${await shop.inReview(5_000_000n)}`;
    const waits = 'Request sent. A second operator must approve it.';
    const galina = await world.as('support', { name: 'galina' });
    await galina.goto(path);
    await resolve(galina, 'failed', 'a first guess');
    await galina.getByText(waits).waitFor();
    const approve = galina.getByRole('button', { name: 'Approve', exact: true });
    await approve.hover();
    await galina.getByText('This is your own request: another operator must decide.').waitFor();
    for (const button of [approve, galina.getByRole('button', { name: 'Mark as failed' })])
      expect(await button.getAttribute('aria-disabled')).toBe('true');
    expect(await findBarriers(galina)).toEqual([]);

    const boris = await world.as('finance', { name: 'boris' });
    await boris.goto(path);
    await press(boris, 'Reject');
    expect(await boris.getByRole('button', { name: 'Withdraw' }).count()).toBe(0);
    await press(boris.getByRole('dialog'), 'Reject');
    await boris.getByText('Request rejected', { exact: true }).waitFor();

    await galina.reload();
    await resolve(galina, 'failed', 'a second guess');
    await press(galina, 'Withdraw');
    await press(galina.getByRole('dialog'), 'Withdraw');
    await galina.getByText('Request withdrawn', { exact: true }).waitFor();

    await resolve(galina, 'succeeded', 'the bank says so');
    await galina.getByText(waits).last().waitFor();
    // In Russian the entry of the menu is long; it must stay on one line beside its badge.
    const olga = await world.as('admin', { language: 'ru', name: 'olga' });
    await olga.goto('/console/requests');
    const entry = olga.getByRole('link', { name: /^Подтверждения/ });
    await entry.getByText(/^\d+$/).waitFor();
    expect((await entry.boundingBox())!.height).toBeLessThan(40);
    expect(await entry.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await olga.goto(path);
    await press(olga, 'Подтвердить');

    await boris.reload();
    await press(boris, 'Approve');
    const dialog = boris.getByRole('dialog');
    const [name, amount, available, held] = await dialog.locator('dd').allTextContents();
    expect([name, amount]).toEqual(['Kiosk', '50,000.00 ₽ · 11.000000 USDT']);
    expect(available).toMatch(/^[\d,]+\.\d{6} \(does not change\)$/);
    expect(held).toMatch(/^11\.000000 →to 0\.000000$/);
    expect(await findBarriers(boris)).toEqual([]);
    world.announceRefusals(409);
    await Promise.all([press(dialog, 'Approve'), press(olga.getByRole('dialog'), 'Подтвердить')]);
    const refusal = (page: Page) => page.getByText(/already decided|уже принял/).waitFor();
    await Promise.any([refusal(boris), refusal(olga)]);
    // The requester's page updates by itself.
    await galina.getByText('Debited', { exact: true }).last().waitFor();
    await galina
      .getByText(/^by (boris|olga)/)
      .first()
      .waitFor();
  });
}
