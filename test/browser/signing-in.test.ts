import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createOperator, setupUrl } from '../../src/operators/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { enrolOperator, goodPassword } from '../helpers/operators.ts';
import { auditContextOf, keyring } from '../helpers/partners.ts';
import { codeOfText } from './totp.ts';
import { describeInBrowser, findBarriers, openWorld } from './world.ts';

describeInBrowser('signing in', async browser => {
  const { pool } = await createDatabase();
  const clock = manualClock();
  const world = await openWorld({ pool, clock }, browser);

  async function signIn(page: Page, name: string, code: string, password = goodPassword) {
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password').fill(password);
    await page.getByLabel('Code').fill(code);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  test('a setup link enrols a new operator, once', async () => {
    const invited = await createOperator(auditContextOf(pool, clock), keyring, {
      name: 'vera',
      role: 'support',
    });
    if (invited.outcome !== 'created') throw new Error(invited.outcome);
    const page = await world.visit();
    await page.goto(setupUrl(world.address, invited.token));
    await page.getByText('You will sign in as vera (Support).').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    const secret = await page.getByText(/^[A-Z2-7]{32}$/).textContent();

    await page.getByLabel('Choose a password').fill(goodPassword);
    await page.getByLabel('Confirm password').fill('something else 5');
    await page.getByLabel('Code', { exact: true }).fill(codeOfText(secret!, clock.nowMs()));
    await page.getByRole('button', { name: 'Finish and sign in' }).click();
    await page.getByText('The passwords do not match.').waitFor();
    await page.getByLabel('Confirm password').fill(goodPassword);
    await page.getByRole('button', { name: 'Finish and sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'vera · Support' }).waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe('/console/');

    world.announceRefusals(404);
    const later = await world.visit();
    await later.goto(setupUrl(world.address, invited.token));
    await later.getByText('This link was already used or has expired.').waitFor();
  });

  test('sign in with password and code, return to the requested page, sign out', async () => {
    const { name, code } = await enrolOperator(pool, clock, 'boris', 'finance');
    clock.advance(30_000);
    const page = await world.visit();
    await page.goto('/console/ledger');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);

    world.announceRefusals(401);
    const wrong = code() === '000000' ? '000001' : '000000';
    await signIn(page, name, wrong);
    await page.getByRole('alert').getByText('Incorrect name, password or code.').waitFor();
    expect(await page.getByLabel('Code').inputValue()).toBe('');
    await page.getByLabel('Code').fill(code());
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Ledger', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/ledger');

    await page.getByRole('button', { name: 'boris · Finance' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const { rows } = await pool.query(
      `SELECT count(*)::int AS open FROM operator_sessions s JOIN operators o ON o.id = s.operator_id
        WHERE o.name = $1 AND s.ended_at IS NULL`,
      [name],
    );
    // The session of the enrolment is listed too.
    expect(rows).toEqual([{ open: 1 }]);
  });

  test('after many wrong codes sign-in is throttled, even with the right code', async () => {
    const { name, code } = await enrolOperator(pool, clock, 'clara', 'viewer');
    clock.advance(30_000);
    const guesser = world.browser();
    for (let nth = 0; nth < 5; nth++)
      await guesser.post('/login', { name, password: 'wrong guess', code: '123456' });
    world.announceRefusals(429);
    const page = await world.visit();
    await page.goto('/console/');
    await signIn(page, name, code());
    await page.getByRole('alert').getByText('Too many attempts. Try again in 15 min.').waitFor();
    clock.advance(15 * 60_000);
    await page.getByLabel('Code').fill(code());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'clara · Viewer' }).waitFor();
  });
});
