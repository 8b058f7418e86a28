import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { describeInBrowser } from '../browser/chromium.ts';
import { findBarriers, takePicture } from '../browser/world.ts';
import { kopeck, type Service, startService } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { freePort } from '../helpers/free-port.ts';

const { pool, url } = await createDatabase();
const env = { DATABASE_URL: url, DATA_DIR: newFolder() };
const main = join(import.meta.dirname, '..', '..', 'examples', 'shop', 'main.ts');

interface Shop {
  url: string;
  output(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

async function openShop(settings: Record<string, string>): Promise<Shop> {
  const port = `${await freePort()}`;
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH!, ...env, PORT: port, ...settings },
  });
  let output = '';
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()));
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  await new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      output += chunk;
      if (output.includes('It receives payment events')) resolve();
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
    void ended.then(() => reject(new Error(`the shop has closed: ${output}`)));
  });
  return { url: `http://127.0.0.1:${port}`, output: () => output, stop };
}

let service: Service;
let shop: Shop;
beforeAll(async () => {
  service = await startService(env);
  shop = await openShop({ KOPECK_URL: service.address });
  // Two processes start, on a machine that may be busy.
});
afterAll(async () => {
  await shop?.stop();
  await service?.stop();
});

test('a shop whose port is in use says so, and creates nothing', async () => {
  const dataDir = newFolder();
  const { port } = new URL(shop.url);
  const closed = openShop({ KOPECK_URL: service.address, DATA_DIR: dataDir, PORT: port });
  await expect(closed).rejects.toThrow(`Port ${port} is in use`);
  expect(existsSync(join(dataDir, 'shop'))).toBe(false);
});

const orders = () => JSON.parse(readFileSync(join(env.DATA_DIR, 'shop', 'orders.json'), 'utf8'));

describeInBrowser('the example shop', async browser => {
  async function visit(at = shop.url): Promise<Page> {
    const context = await browser.newContext({ baseURL: at, viewport: { width: 1000, height: 700 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.on('pageerror', error => expect.unreachable(error.message));
    await page.goto('/');
    return page;
  }

  async function buy(page: Page, product: string): Promise<void> {
    await page.getByRole('button', { name: product }).click();
    await expectState(page, 'Waiting for you');
    await page.getByRole('button', { name: 'Pay' }).click();
  }

  const expectState = (page: Page, state: string) =>
    expect.poll(() => page.getByRole('status').textContent()).toBe(state);
  const history = (page: Page) => page.getByRole('list', { name: 'What has happened' }).textContent();

  test('a purchase is paid, once, and the service says the same', async () => {
    const page = await visit();
    expect(await findBarriers(page)).toEqual([]);
    await takePicture(page, 'shop');
    await buy(page, 'Green tea');
    await expectState(page, 'Paid');
    expect(await findBarriers(page)).toEqual([]);
    await takePicture(page, 'shop-paid');
    const [order] = orders();
    expect(order).toMatchObject({ state: 'paid', idempotency_key: expect.any(String) });
    const shown = await kopeck(env, 'payment', 'show', order.payment_id, '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ external_id: order.id, status: 'succeeded' });
    // Pressing again, or in a second window, pays nothing more.
    const again = await fetch(`${shop.url}/orders/${order.id}/pay`, { method: 'POST' });
    expect(await again.json()).toMatchObject({ state: 'paid', payment_id: order.payment_id });
  });

  test('the price on the page is the price that is debited; an expired one is shown anew and confirmed', async () => {
    const page = await visit();
    await page.getByRole('button', { name: 'Green tea' }).click();
    await expectState(page, 'Waiting for you');
    const { quote } = orders().at(-1);
    await expect.poll(() => page.locator('#usdt').textContent()).toMatch(`${quote.amount_usdt} USDT until `);
    await pool.query(`UPDATE locked_quotes SET expires_at = now() - interval '1 s' WHERE payment_id IS NULL`);
    await page.getByRole('button', { name: 'Pay' }).click();
    await expect.poll(() => page.locator('#advice').textContent()).toMatch('confirm the new one');
    await expectState(page, 'Waiting for you');
    await expect.poll(() => orders().at(-1).quote).not.toEqual(quote);
    const renewed = orders().at(-1);
    expect(renewed).not.toHaveProperty('payment_id');
    await takePicture(page, 'shop-new-price');
    await page.getByRole('button', { name: 'Pay' }).click();
    await expectState(page, 'Paid');
    const { payment_id, idempotency_key, amount_usdt } = orders().at(-1);
    expect([amount_usdt, idempotency_key]).toEqual([renewed.quote.amount_usdt, renewed.idempotency_key]);
    const shown = await kopeck(env, 'payment', 'show', payment_id, '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ status: 'succeeded', amount_usdt });
  });

  test('with ,01 it is declined, with ,03 there is no payment', async () => {
    const page = await visit();
    await buy(page, 'Honey cake');
    await expectState(page, 'Declined');
    await page.getByRole('link', { name: 'Back to the shop' }).click();
    await buy(page, 'Desk lamp');
    await expectState(page, 'Not paid');
    expect(orders().at(-1)).not.toHaveProperty('payment_id');
  });

  test('with ,02 it is unknown, and paid when the webhook says so', async () => {
    const page = await visit();
    await buy(page, 'A book');
    await expectState(page, 'Waiting for the bank');
    expect(await page.getByRole('button', { name: 'Pay' }).isVisible()).toBe(false);
    await takePicture(page, 'shop-processing');
    await page.getByRole('button', { name: 'Skip the 30 seconds' }).click();
    await expectState(page, 'Paid');
    expect(await history(page)).toMatch(/Paid by webhook$/);
  });

  test('what nobody signed is not believed', async () => {
    const [{ id, payment_id }] = orders();
    const forged = {
      id: 'evt_1',
      event: 'payment.failed',
      data: { id: payment_id, external_id: id, status: 'failed' },
    };
    const headers = { 'content-type': 'application/json', 'x-service-signature': `t=1,v1=${'0'.repeat(64)}` };
    const body = JSON.stringify(forged);
    expect((await fetch(`${shop.url}/kopeck`, { method: 'POST', headers, body })).status).toBe(400);
    expect(orders()[0].state).toBe('paid');
  });

  test('killed while a payment is open, it goes on with the same key; without a webhook, by the feed', async () => {
    const page = await visit();
    await buy(page, 'A book');
    await expectState(page, 'Waiting for the bank');
    const before = orders().at(-1);
    await shop.stop('SIGKILL');
    const { key } = JSON.parse(readFileSync(join(env.DATA_DIR, 'shop', 'key.json'), 'utf8'));
    shop = await openShop({ KOPECK_URL: service.address, KOPECK_KEY: key });
    expect(shop.output()).toContain('from the event feed');
    const after = await visit();
    await after.getByRole('link', { name: 'A book' }).first().click();
    await expectState(after, 'Waiting for the bank');
    await after.getByRole('button', { name: 'Skip the 30 seconds' }).click();
    await expectState(after, 'Paid');
    expect(await history(after)).toMatch(/Paid by the event feed$/);
    const { idempotency_key, payment_id } = orders().at(-1);
    expect({ idempotency_key, payment_id }).toEqual({
      idempotency_key: before.idempotency_key,
      payment_id: before.payment_id,
    });
  });
});

test('without the service, and with a live key, the shop says what is wrong', async () => {
  await expect(openShop({ KOPECK_URL: 'http://127.0.0.1:9' })).rejects.toThrow(
    'start it first with npm start',
  );
  await expect(openShop({ KOPECK_URL: service.address, KOPECK_KEY: 'svc_live_a_b' })).rejects.toThrow(
    'a test key only',
  );
});
