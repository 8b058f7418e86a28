import { beforeAll, expect, test } from 'vitest';
import { newLink, partnerAt, setRate } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { goodPassword } from '../helpers/operators.ts';
import { createPartnerWithKeys } from '../helpers/partners.ts';
import { answerDialog, cardOf, openByMenu, press, rowOf } from './page-actions.ts';
import { codeOfText } from './totp.ts';
import { describeInBrowser, openWorld } from './world.ts';

describeInBrowser('settings', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  let page: Awaited<ReturnType<typeof world.as>>;
  let partner: ReturnType<typeof partnerAt>;
  beforeAll(async () => {
    page = await world.as('admin', { name: 'anna' });
    await setRate(pool);
    partner = partnerAt(world.address, (await createPartnerWithKeys(pool)).testKey);
  });

  test('maintenance now: payments are refused until it ends', async () => {
    const pay = async () => (await partner.pay({ qr_url: newLink(10_000) })).json.error?.code;
    await page.goto('/console/settings');
    await press(page, 'Start now');
    await answerDialog(page, 'Start now');
    await page.getByText('Maintenance: new payments are rejected.').waitFor();
    await expect.poll(pay).toBe('maintenance');
    await press(page, 'End now');
    await answerDialog(page, 'End now');
    await page.getByText('New payments are accepted.').waitFor();
    await expect.poll(pay).toBeUndefined();
  });

  test('maintenance is planned and cancelled', async () => {
    await press(page, 'Schedule');
    await answerDialog(page, 'Schedule');
    const windows = page.getByRole('table', { name: 'Scheduled maintenance' });
    await press(rowOf(windows, 'anna'), 'Cancel maintenance');
    await answerDialog(page, 'Cancel maintenance');
    await page.getByText('No maintenance scheduled').waitFor();
  });

  test('approval thresholds: lowered at once, raised when another administrator approves', async () => {
    const card = cardOf(page, 'Dual approval thresholds');
    await press(card, 'Change');
    await answerDialog(page, 'Change', { 'Balance credit above': '500' });
    await card.getByText('500.00').waitFor();
    await press(card, 'Change');
    await page.getByLabel('Balance credit above').fill('90000');
    await page.getByText('A second administrator must approve this change.').waitFor();
    await answerDialog(page, 'Change');
    await cardOf(page, 'Change dual approval thresholds').waitFor();
    await card.getByText('500.00').waitFor();

    const other = await world.as('admin');
    await other.goto('/console/settings');
    await press(other, 'Approve');
    await answerDialog(other, 'Approve');
    await cardOf(other, 'Dual approval thresholds').getByText('90,000.00').waitFor();
  });

  test('an operator is created with a setup link shown once, signs in, and is signed out when disabled', async () => {
    world.announceRefusals(401);
    await page.goto('/console/settings/operators');
    await press(page, 'New operator');
    await answerAndLook('Create', { Name: 'vera' });
    const dialog = page.getByRole('dialog');
    const link = await dialog.getByText('/console/setup#').textContent();
    await press(dialog, 'I have copied the link');
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.content()).not.toContain(link);
    await rowOf(page, 'vera').getByText('Invited').waitFor();

    const vera = await world.visit();
    await vera.goto(link!);
    await vera.getByText('You will sign in as vera (Support).').waitFor();
    const secret = await vera.locator('code').textContent();
    await vera.getByLabel('Choose a password').fill(goodPassword);
    await vera.getByLabel('Confirm password').fill(goodPassword);
    await vera.getByLabel('Code', { exact: true }).fill(codeOfText(secret!, Date.now()));
    await press(vera, 'Finish and sign in');
    await vera.getByRole('heading', { name: 'Overview' }).waitFor();

    await page.reload();
    await press(rowOf(page, 'vera'), 'Disable');
    await answerDialog(page, 'Disable');
    await rowOf(page, 'vera').getByText('Disabled').waitFor();
    await openByMenu(vera, 'Audit log');
    await vera.getByText('Your session has ended').first().waitFor();
  });

  test('a disabled operator can be enabled again, and gets a new link after a reset', async () => {
    await press(rowOf(page, 'vera'), 'Enable');
    await answerDialog(page, 'Enable');
    await rowOf(page, 'vera').getByText('Active').waitFor();
    await press(rowOf(page, 'vera'), 'Reset access');
    await answerAndLook('Reset access');
    const dialog = page.getByRole('dialog');
    const link = await dialog.getByText('/console/setup#').textContent();
    await press(dialog, 'I have copied the link');
    await rowOf(page, 'vera').getByText('Invited').waitFor();
    const vera = await world.visit();
    await vera.goto(link!);
    await vera.getByText('You will sign in as vera (Support).').waitFor();
  });

  test('the role of an operator is changed, and the open page follows', async () => {
    const boris = await world.as('viewer', { name: 'boris' });
    await page.reload();
    await press(rowOf(page, 'boris'), 'Change role');
    await page.getByRole('dialog').getByLabel('Role').selectOption('Support');
    await answerDialog(page, 'Change');
    await boris.goto('/console/recipients');
    await press(boris, 'Block recipient');
  });

  test('a session is revoked from another window', async () => {
    world.announceRefusals(401);
    const galina = await world.as('viewer', { name: 'galina' });
    await galina.goto('/console/settings/sessions');
    await page.getByRole('link', { name: 'Sessions', exact: true }).click();
    await press(rowOf(page.getByRole('table', { name: 'Sessions' }), 'galina'), 'End session');
    await answerDialog(page, 'End session');
    await galina.getByText('Your session has ended').first().waitFor();
  });

  async function answerAndLook(verb: string, fields: Record<string, string> = {}) {
    const dialog = page.getByRole('dialog');
    for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value);
    await press(dialog, verb);
    await dialog.getByText('The link is shown only once.').waitFor();
  }
});
