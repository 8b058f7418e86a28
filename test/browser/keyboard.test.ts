import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { openShop } from './shop.ts';
import { describeInBrowser, openWorld } from './world.ts';

describeInBrowser('the keyboard', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);

  /** The focused element, as a screen reader names it. */
  const focus = (page: Page) =>
    page.evaluate<string>(
      'document.activeElement.ariaLabel || document.activeElement.textContent || document.activeElement.id',
    );

  test('reaches everything without a mouse', async () => {
    const shop = await openShop(world);
    const [older, newer] = [await shop.inReview(), await shop.inReview()];
    const page = await world.as('support', { name: 'vera' });
    await page.goto('/console/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    const order: string[] = [];
    for (let nth = 0; nth < 7; nth++) {
      await page.keyboard.press('Tab');
      order.push(await focus(page));
    }
    expect(order).toEqual([
      'Skip to content',
      'Kopeck',
      'Search payments',
      'RU: Русский',
      'Theme: Dark',
      'vera · Support',
      'Overview',
    ]);

    await page.getByRole('link', { name: 'Skip to content' }).focus();
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');

    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await keys.getByText('Go to: Payments').waitFor();
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'hidden' });

    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.getByRole('heading', { name: 'Payments' }).waitFor();
    await page.getByRole('row').nth(2).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Payment', exact: true }).waitFor();
    expect(page.url()).toContain(older);

    await page.keyboard.press('/');
    // In a field a shortcut letter is only a letter.
    await page.keyboard.type('gp');
    expect(await page.getByRole('searchbox', { name: 'Search payments' }).inputValue()).toBe('gp');
    await page.getByRole('searchbox', { name: 'Search payments' }).fill(newer);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Payments' }).waitFor();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    expect(page.url()).toContain(newer);
  });
});
