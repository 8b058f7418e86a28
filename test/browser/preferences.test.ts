import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { describeInBrowser, openWorld } from './world.ts';

describeInBrowser('preferences', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);

  const isDark = async (page: Page) => {
    const colour = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    return Number(/\d+/.exec(colour)![0]) < 128;
  };

  test('language and colours are those of the browser until chosen, and the choice is stored', async () => {
    const page = await world.as('viewer', { language: 'ru', scheme: 'dark' });
    await page.goto('/console/');
    await page.getByRole('heading', { name: 'Обзор' }).waitFor();
    expect(await isDark(page)).toBe(true);

    await page.getByRole('button', { name: 'EN: English' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Theme: Light' }).click();
    await expect.poll(() => isDark(page)).toBe(false);

    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await isDark(page)).toBe(false);
    expect(await page.locator('html').getAttribute('lang')).toBe('en');

    await page.context().clearCookies();
    await page.goto('/console/payments');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await isDark(page)).toBe(false);
  });
});
