import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operatorRoles, type Permission, roleHasPermission } from '../../src/operators/index.ts';
import { press } from './page-actions.ts';
import type { SampleData } from './sample-data.ts';
import { arePicturesWanted, expectToFit, moveTo, sweepInBoth, takePicture, type World } from './world.ts';

type Offer = [button: string, needs: Permission];

/** Every page, and the actions of each with the permission that it needs. */
const pagesOf = (day: SampleData): Record<string, [path: string, ...offers: Offer[]]> => ({
  overview: ['/', ['Clear', 'alarms.clear']],
  // Few rows: axe takes seconds for fifty.
  payments: ['/payments?state=manual_review'],
  payment: [`/payments/${day.paymentId}`],
  unfinished: [
    `/payments/${day.reviewId}`,
    ['Check status', 'payments.ask'],
    ['Mark as succeeded', 'payments.resolve'],
    ['Mark as failed', 'payments.resolve'],
  ],
  review: ['/review'],
  requests: ['/requests'],
  partners: ['/partners', ['New partner', 'partners.create']],
  partner: [`/partners/${day.partnerId}`],
  newcomer: [
    `/partners/${day.newcomerId}`,
    ['Approve live mode', 'partners.approve'],
    ['Reject live mode', 'partners.approve'],
    ['Suspend', 'partners.suspend'],
    ['Credit balance', 'balances.credit'],
    ['Change', 'partners.limits'],
  ],
  keys: [
    `/partners/${day.partnerId}/keys`,
    ['Change addresses', 'keys.addresses'],
    ['Revoke', 'keys.revoke'],
  ],
  webhook: [
    `/partners/${day.partnerId}/webhook`,
    ['Check endpoint', 'webhooks.check'],
    ['Add endpoint', 'webhooks.change'],
    ['Remove', 'webhooks.change'],
    ['Resend', 'events.resend'],
  ],
  deliveries: ['/deliveries'],
  delivery: [`/deliveries/${day.partnerId}/${day.eventId}`, ['Resend', 'events.resend']],
  alarms: ['/alarms', ['Clear', 'alarms.clear']],
  deposits: ['/deposits', ['Credit', 'balances.credit'], ['Reject', 'balances.credit']],
  ledger: ['/ledger', ['Verify now', 'ledger.verify']],
  entries: [`/ledger/${day.partnerId}/live`],
  rates: ['/rates', ['Change', 'rates.change']],
  recipients: ['/recipients', ['Block recipient', 'recipients.block'], ['Unblock', 'recipients.block']],
  reconciliation: ['/reconciliation', ['Reconcile a day', 'reconciliation.run']],
  run: [`/reconciliation/${day.runId}`],
  requestLog: ['/request-log'],
  audit: ['/audit?action=partner.create'],
  settings: [
    '/settings',
    ['Schedule', 'settings.maintenance'],
    ['Start now', 'settings.maintenance'],
    ['Cancel maintenance', 'settings.maintenance'],
    ['Change', 'settings.thresholds'],
  ],
  operators: [
    '/settings/operators',
    ['New operator', 'operators.manage'],
    ['Reset access', 'operators.manage'],
    ['Disable', 'operators.manage'],
  ],
  sessions: ['/settings/sessions'],
});

/** Pages and their dialogs with the longest words. */
const dialogsOf = (day: SampleData): [path: string, ...names: string[]][] => [
  [`/payments/${day.reviewId}`, 'Отметить, что не прошёл'],
  [`/partners/${day.newcomerId}`, 'Пополнить баланс', 'Отклонить боевой режим', 'Приостановить'],
  [`/partners/${day.partnerId}/keys`, 'Изменить адреса'],
  [`/partners/${day.partnerId}/webhook`, 'Добавить обработчик'],
  ['/partners', 'Новый партнёр'],
  ['/recipients', 'Заблокировать получателя'],
  ['/reconciliation', 'Сверить день'],
  ['/settings/operators', 'Новый сотрудник'],
];

/** What every page of the console has: no barriers, a layout for every width, and actions for those who may use them. */
export function testPages(world: World, day: SampleData) {
  const pages = pagesOf(day);
  let page: Page;
  beforeAll(async () => {
    page = await world.as('admin', { name: 'admin-of-the-pages' });
    await page.goto('/console/');
  });
  afterAll(() => page.context().close());

  test.each(Object.keys(pages))(
    '%s: actions for admins, no barriers, readable in the dark, everything in its card in both languages',
    async name => {
      const [path, ...offers] = pages[name]!;
      await moveTo(page, `/console${path}`);
      for (const [offer] of offers) {
        await actionOf(page, offer).waitFor();
        expect([offer, await actionOf(page, offer).getAttribute('aria-disabled')]).toEqual([offer, null]);
      }
      if (arePicturesWanted) await pictureForReaders(page, name);
      await sweepInBoth(page, name);
    },
  );

  test('on a tablet the review needs no scrolling sideways, in either language', async () => {
    await moveTo(page, '/console/review');
    for (const [overdue, other] of [
      ['Overdue', 'RU: Русский'],
      ['Просрочен', 'EN: English'],
    ] as const) {
      await page.setViewportSize({ width: 768, height: 800 });
      await page.locator('.table tbody tr', { hasText: overdue }).nth(1).waitFor();
      const frame = page.locator('.table-frame');
      expect(await frame.evaluate(one => one.scrollWidth - one.clientWidth)).toBe(0);
      await page.setViewportSize({ width: 1280, height: 800 });
      await press(page, other);
    }
  });

  test('dialogs in Russian fit a phone', async () => {
    await moveTo(page, '/console/');
    await press(page, 'RU: Русский');
    await page.setViewportSize({ width: 390, height: 800 });
    for (const [path, ...names] of dialogsOf(day)) {
      await moveTo(page, `/console${path}`);
      for (const name of names) {
        await actionOf(page, name).click();
        await page.getByRole('dialog').waitFor();
        await expectToFit(page, { dialog: name });
        await takePicture(page, `dialog-${name}`);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await press(page, 'EN: English');
  });

  test('a viewer is shown the roles that each action needs, and it does nothing', async () => {
    const window = await world.as('viewer');
    await window.goto('/console/');
    for (const [path, ...offers] of Object.values(pages).filter(([, offer]) => offer)) {
      await moveTo(window, `/console${path}`);
      for (const [name, needs] of offers) {
        const button = actionOf(window, name);
        await button.waitFor();
        expect([name, await button.getAttribute('aria-disabled')]).toEqual([name, 'true']);
        expect([name, await button.getAttribute('aria-description')]).toEqual([name, hintOf(needs)]);
      }
    }
    await moveTo(window, `/console/payments/${day.reviewId}`);
    await window.getByRole('button', { name: 'Mark as failed' }).click({ force: true });
    await window.getByText(hintOf('payments.resolve')).first().waitFor();
    expect(await window.getByRole('dialog').count()).toBe(0);
  });
}

/** The last one: in the operator's own row it is disabled for every role. */
const actionOf = (page: Page, name: string) =>
  page.locator('main').getByRole('button', { name, exact: true }).last();

const roleNames = { viewer: 'viewer', support: 'support', finance: 'finance', admin: 'administrator' };

/** As a button says it to those who may not press it. */
function hintOf(needs: Permission): string {
  const roles = operatorRoles.filter(role => roleHasPermission(role, needs)).map(role => roleNames[role]);
  return `Required role: ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(roles)}`;
}

const docs = join(import.meta.dirname, '..', '..', 'docs');

/** The pictures in README, small enough for the repository. */
async function pictureForReaders(page: Page, name: string): Promise<void> {
  const take = async (file: string, width: number, height: number) => {
    await page.setViewportSize({ width, height: 800 });
    const clip = { x: 0, y: 0, width, height };
    const taken = PNG.sync.read(await page.screenshot({ clip, animations: 'disabled' }));
    // A sixth smaller than what the browser writes: pages are flat, so filters of rows do not help.
    const picture = PNG.sync.write(taken, {
      ...{ colorType: 2, filterType: 0, deflateLevel: 9, deflateStrategy: 0 },
    });
    expect(picture.length).toBeLessThan(120_000);
    writeFileSync(join(docs, file), picture);
    await page.setViewportSize({ width: 1280, height: 800 });
  };
  if (name === 'overview') await take('console-overview.png', 1280, 640);
  if (name === 'review') await take('console-review.png', 390, 640);
  if (name !== 'payment') return;
  await page.emulateMedia({ colorScheme: 'dark' });
  await take('console-payment.png', 1280, 560);
  await page.emulateMedia({ colorScheme: 'light' });
}
