import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { createPartner } from '../../src/partners/index.ts';
import { newLink, partnerAt } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { sendRequest } from '../helpers/raw-http.ts';
import { answered, store } from '../request-log/requests.ts';
import { openByMenu, press, rowOf } from './page-actions.ts';
import { openShop } from './shop.ts';
import { describeInBrowser, findBarriers, openWorld, untilLoaded } from './world.ts';

describeInBrowser('API requests', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  const shop = await openShop(world);
  const idOf = ({ headers }: { headers: Headers }) => headers.get('x-request-id')!;
  let created: { requestId: string; paymentId: string };
  let refusedId: string;

  beforeAll(async () => {
    await store(pool, ...Array.from({ length: 60 }, () => answered({ route: '/v1/rate', method: 'GET' })));
    const partner = partnerAt(world.address, shop.testKey);
    const paid = await partner.pay({ qr_url: newLink(15_000) });
    created = { requestId: idOf(paid), paymentId: paid.json.id };
    const { headers } = await sendRequest(world.address, { path: '/v1/balance' });
    refusedId = headers['x-request-id']!;
  });

  /** Not the page itself. */
  const isList = ({ pathname }: URL) => pathname.endsWith('/api/request-log');
  const table = (page: Page, name = 'API requests') => page.getByRole('table', { name });

  test('support finds a request by its id, and its payment and partner from there', async () => {
    const page = await world.as('support');
    await page.goto('/console/');
    await openByMenu(page, 'API requests');
    await page.getByRole('heading', { name: 'API requests' }).waitFor();
    await page.getByLabel('Request ID').fill(refusedId);
    await press(page, 'Search');
    const row = rowOf(table(page).locator('tbody'), 'GET /v1/balance');
    await row.getByText('401').waitFor();
    await row.getByText('unauthorized').waitFor();
    await row.getByText('Unknown (key missing, not valid or not checked)').waitFor();
    expect(await table(page).locator('tbody').getByRole('row').count()).toBe(1);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ request_id: refusedId });
    expect(await findBarriers(page)).toEqual([]);

    await press(page, 'Clear');
    await page.getByLabel('Partner').fill('test shop');
    await page.getByLabel('Status').selectOption('2xx: success');
    const paid = rowOf(table(page).locator('tbody'), 'POST /v1/payments');
    await paid.getByRole('link', { name: 'Test shop' }).waitFor();
    await paid.getByRole('link', { name: 'POST /v1/payments' }).click();
    await page.getByText(created.paymentId).first().waitFor();

    await page.getByRole('link', { name: created.requestId }).click();
    await page.getByRole('heading', { name: 'API requests' }).waitFor();
    expect(await page.getByLabel('Request ID').inputValue()).toBe(created.requestId);
    await rowOf(table(page).locator('tbody'), 'POST /v1/payments')
      .getByRole('link', { name: 'Test shop' })
      .click();
    await page.getByRole('heading', { name: 'Test shop' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'API requests' }).click();
    await expect.poll(() => page.getByLabel('Partner').inputValue()).toBe(shop.partnerId);
    await rowOf(table(page).locator('tbody'), 'POST /v1/payments').waitFor();
  });

  test('the list grows page by page, and says so when nothing is found', async () => {
    const page = await world.as('viewer');
    await page.goto('/console/request-log?path=/v1/rate');
    await table(page).getByRole('row').nth(50).waitFor();
    await press(page, 'Show more');
    await table(page).getByRole('row').nth(60).waitFor();
    expect(await table(page).locator('tbody').getByRole('row').count()).toBe(60);
    await page.getByLabel('Error code').fill('no_such_code');
    await press(page, 'Search');
    await page.getByText('No requests found').waitFor();
    await press(page, 'Clear');
    await page.getByLabel('Before, UTC').fill('2020-01-01T00:00');
    await press(page, 'Search');
    await page.getByText('No requests found').waitFor();
  });

  test('a link may filter by one status, and a filtered list is not polled', async () => {
    const page = await world.as('viewer');
    await page.clock.install();
    let asked = 0;
    await page.route(isList, route => {
      asked += 1;
      return route.continue();
    });
    await page.goto('/console/request-log?status=401');
    await rowOf(table(page).locator('tbody'), 'GET /v1/balance').waitFor();
    expect(await page.getByLabel('Status').inputValue()).toBe('401');
    expect(await page.getByLabel('Status').locator('option:checked').textContent()).toBe('401');
    const before = asked;
    expect(before).toBeGreaterThan(0);
    await page.clock.runFor(30_000);
    await untilLoaded(page);
    expect(asked).toBe(before);
  });

  test('an empty page of a search that goes on says so', async () => {
    const page = await world.as('viewer');
    await page.route(isList, route => route.fulfill({ json: { data: [], next_cursor: created.requestId } }));
    await page.goto('/console/request-log?error_code=rare');
    await page.getByText('No requests found so far').waitFor();
    await page.getByRole('button', { name: 'Show more' }).waitFor();
  });

  test('the list is polled until an error', async () => {
    world.announceRefusals(422);
    const page = await world.as('viewer');
    await page.clock.install();
    const answers: number[] = [];
    page.on('response', response => {
      if (isList(new URL(response.url()))) answers.push(response.status());
    });
    await page.goto('/console/request-log');
    await table(page).waitFor();
    await page.clock.runFor(6_000);
    await expect.poll(() => answers.filter(status => status === 200).length).toBeGreaterThan(1);
    await page.route(isList, route =>
      route.fulfill({ status: 422, json: { error: { code: 'invalid_request', message: 'Wrong.' } } }),
    );
    await page.clock.runFor(6_000);
    await page.getByRole('alert').waitFor();
    const before = answers.length;
    await page.clock.runFor(30_000);
    await untilLoaded(page);
    expect(answers.length).toBe(before);
  });

  test('in Russian, with a wrong id and a name that several partners have', async () => {
    world.announceRefusals(422, 422);
    for (const name of ['Twins', 'twins']) await createPartner(auditContextOf(pool), name);
    const page = await world.as('viewer', { language: 'ru', scheme: 'dark' });
    await page.goto('/console/request-log');
    await page.getByRole('heading', { name: 'Запросы к API' }).waitFor();
    await untilLoaded(page);
    expect(await findBarriers(page)).toEqual([]);
    await page.getByLabel('ID запроса').fill('req_1');
    await press(page, 'Найти');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('ID запроса').fill('');
    await page.getByLabel('Партнёр').fill('twins');
    await press(page, 'Найти');
    await page.getByText('Это название подходит нескольким партнёрам').waitFor();
  });
});
