import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { startSimulator } from '../helpers/simulator.ts';
import { insertSampleData } from './sample-data.ts';
import { describeInBrowser, findBarriers, type Looks, openWorld, takePicture, untilLoaded } from './world.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');
/** The pictures in README are written only on request. */
const wanted = process.env.KOPECK_PICTURES === '1';
const forReaders: Record<string, string> = {
  'overview-light': 'console-overview',
  'payment-dark': 'console-payment',
  'review-narrow': 'console-review',
};

describeInBrowser('appearance', async browser => {
  const { pool } = await createDatabase();
  const bank = await startSimulator();
  const world = await openWorld({ pool, gatewayUrl: bank.address }, browser);
  const windows = new Map<string, Page>();
  let day: Awaited<ReturnType<typeof insertSampleData>>;
  beforeAll(async () => {
    day = await insertSampleData(world, bank);
    for (const look of Object.keys(looks))
      windows.set(look, await world.as('admin', { ...looks[look], name: `admin-${look}` }));
  });

  const pages: Record<string, () => string> = {
    overview: () => '/',
    payments: () => '/payments',
    payment: () => `/payments/${day.paymentId}`,
    review: () => '/review',
    requests: () => '/requests',
    partners: () => '/partners',
    partner: () => `/partners/${day.partnerId}`,
    keys: () => `/partners/${day.partnerId}/keys`,
    webhook: () => `/partners/${day.partnerId}/webhook`,
    deliveries: () => '/deliveries',
    delivery: () => `/deliveries/${day.partnerId}/${day.eventId}`,
    deposits: () => '/deposits',
    ledger: () => '/ledger',
    entries: () => `/ledger/${day.partnerId}/live`,
    rates: () => '/rates',
    reconciliation: () => '/reconciliation',
    run: () => `/reconciliation/${day.runId}`,
    recipients: () => '/recipients',
    requestLog: () => '/request-log',
    audit: () => '/audit',
    settings: () => '/settings',
    operators: () => '/settings/operators',
    sessions: () => '/settings/sessions',
  };
  const looks: Record<string, Looks> = {
    light: {},
    dark: { scheme: 'dark', language: wanted ? 'en' : 'ru' },
    narrow: { width: 390 },
  };

  describe.each(Object.keys(looks))('%s', look => {
    test.each(Object.keys(pages))('%s', async name => {
      const page = windows.get(look)!;
      // One window per look: only what the page itself needs is loaded.
      if (page.url() === 'about:blank') await page.goto('/console/');
      await page.evaluate(`history.pushState(null, '', '/console${pages[name]!()}')`);
      await untilLoaded(page);
      // Barriers do not depend on the width; the dark scheme differs only in colours.
      if (look !== 'narrow')
        expect(await findBarriers(page, look === 'dark' ? 'colours' : 'all')).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      await takePicture(page, `${name}-${look}`);
      const shown = forReaders[`${name}-${look}`];
      if (wanted && shown) await pictureFor(page, shown);
    });
  });

  test.each(['light', 'dark'] as const)('the sign-in page, %s', async scheme => {
    const page = await world.visit({ scheme });
    await page.goto('/console/');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await takePicture(page, `sign-in-${scheme}`);
  });
});

/** Small enough for the repository. */
async function pictureFor(page: Page, name: string): Promise<void> {
  const { width } = page.viewportSize()!;
  const clip = { x: 0, y: 0, width, height: name === 'console-payment' ? 560 : 640 };
  const picture = await page.screenshot({ path: join(docs, `${name}.png`), clip, animations: 'disabled' });
  expect(picture.length).toBeLessThan(120_000);
}
