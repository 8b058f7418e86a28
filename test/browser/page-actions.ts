import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';

/** What people do on a page, in their words. */

/** A part of the page, by its title. */
export const cardOf = (page: Page, title: string): Locator =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });

export const rowOf = (where: Page | Locator, text: string | RegExp): Locator =>
  where.getByRole('row').filter({ hasText: text });

export const press = (where: Page | Locator, name: string): Promise<void> =>
  where.getByRole('button', { name, exact: true }).click();

/** Presses the button with the name, fills in what is asked and says yes; resolves once the question is gone. */
export async function answerDialog(
  page: Page,
  verb: string,
  fields: Record<string, string> = {},
): Promise<void> {
  const dialog = page.getByRole('dialog');
  for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value);
  await press(dialog, verb);
  await dialog.waitFor({ state: 'hidden' });
}

/** What is saved when the button is pressed. */
export async function save(
  where: Page | Locator,
  page: Page,
  button: string,
): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), press(where, button)]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

/** A window that hears nothing new about this address until it is released: what it shows is past, for certain. */
export async function keepStale(page: Page, address: string): Promise<() => void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(`**/console/api/${address}`, async route => {
    await released;
    // The page may have given it up by then.
    await route.continue().catch(() => {});
  });
  return release;
}
