import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { codeOfText, enrolOperator, goodPassword } from '../helpers/operators.ts';
import { answerDialog, openByMenu, press, resolve, rowOf } from './page-actions.ts';
import { openShop } from './sample-data.ts';
import { findBarriers, type World } from './world.ts';

async function signIn(page: Page, name: string, code: string) {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(goodPassword);
  await page.getByLabel('Code').fill(code);
  await press(page, 'Sign in');
}

/** Operators get access, sign in with a second factor, and lose access again. */
export function testSigningIn(world: World, advance: (ms: number) => void) {
  const { clock } = world.deps;

  test('an operator is invited by a link shown once, enrols with it once, and is reset', async () => {
    const admin = await world.as('admin');
    await admin.goto('/console/settings/operators');
    const dialog = admin.getByRole('dialog');
    const readLink = async () => {
      await dialog.getByText('The link is shown only once.').waitFor();
      const link = (await dialog.getByText('/console/setup#').textContent())!;
      await press(dialog, 'I have copied the link');
      await dialog.waitFor({ state: 'hidden' });
      expect(await admin.content()).not.toContain(link);
      return link;
    };
    await press(admin, 'New operator');
    await dialog.getByLabel('Name').fill('yulia');
    await press(dialog, 'Create');
    const link = await readLink();
    const row = rowOf(admin, 'yulia');
    await row.getByText('Invited').waitFor();

    const page = await world.visit();
    await page.goto(link);
    await page.getByText('You will sign in as yulia (Support).').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    const secret = (await page.getByText(/^[A-Z2-7]{32}$/).textContent())!;
    await page.getByLabel('Choose a password').fill(goodPassword);
    await page.getByLabel('Confirm password').fill('something else 5');
    await page.getByLabel('Code', { exact: true }).fill(codeOfText(secret, clock.nowMs()));
    await press(page, 'Finish and sign in');
    await page.getByText('The passwords do not match.').waitFor();
    await page.getByLabel('Confirm password').fill(goodPassword);
    await press(page, 'Finish and sign in');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'yulia · Support' }).waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe('/console/');
    world.announceRefusals(404);
    const later = await world.visit();
    await later.goto(link);
    await later.getByText('This link was already used or has expired.').waitFor();

    // A changed role applies to the next load; a session is ended from another window.
    await admin.reload();
    await press(row, 'Change role');
    await dialog.getByLabel('Role').selectOption('Finance');
    await answerDialog(admin, 'Change');
    await page.reload();
    await page.getByRole('button', { name: 'yulia · Finance' }).waitFor();
    world.announceRefusals(401);
    await admin.getByRole('link', { name: 'Sessions', exact: true }).click();
    await press(rowOf(admin.getByRole('table', { name: 'Sessions' }), 'yulia'), 'End session');
    await answerDialog(admin, 'End session');
    const ended = page.getByText('Your session has ended').first();
    // The page learns it from the click, or from a poll of its own before.
    await Promise.any([openByMenu(page, 'Audit log'), ended.waitFor()]);
    await ended.waitFor();

    await admin.getByRole('link', { name: 'Operators', exact: true }).click();
    await press(row, 'Reset access');
    await press(dialog, 'Reset access');
    const another = await readLink();
    await later.goto('about:blank');
    await later.goto(another);
    await later.getByText('You will sign in as yulia (Finance).').waitFor();
  });

  // Last, since it moves the clock.
  test('signing in needs the code, returns to the page, and again when the session ends in a form', async () => {
    const { name, code } = await enrolOperator(world.pool, clock, 'boris-of-support', 'support');
    advance(30_000);
    const paymentId = await (await openShop(world)).inReview();
    const page = await world.visit();
    await page.goto(`/console/payments/${paymentId}`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await findBarriers(page, { rules: 'colours' })).toEqual([]);
    world.announceRefusals(401);
    await signIn(page, name, code() === '000000' ? '000001' : '000000');
    await page.getByRole('alert').getByText('Incorrect name, password or code.').waitFor();
    expect(await page.getByLabel('Code').inputValue()).toBe('');
    await page.getByLabel('Code').fill(code());
    await page.keyboard.press('Enter');

    await press(page, 'Mark as failed');
    await page.getByLabel('Reason').fill('never left the bank');
    advance(31 * 60_000);
    await page.getByText('Your session has ended. Sign in to continue where you left off.').waitFor();
    await signIn(page, name, code());
    await resolve(page, 'failed', 'never left the bank');
    await page.getByText('Returned to the balance').waitFor();
    expect(page.url()).toContain(paymentId);

    await press(page, `${name} · Support`);
    await press(page, 'Sign out');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.reload();
    world.announceRefusals(429);
    const refusal = { error: { code: 'throttled', message: 'Too many.' } };
    const headers = { 'retry-after': '900' };
    await page.route('**/login', route => route.fulfill({ status: 429, headers, json: refusal }));
    await signIn(page, name, code());
    await page.getByRole('alert').getByText('Too many attempts. Try again in 15 min.').waitFor();
  });
}
