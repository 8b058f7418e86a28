import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';

/** A part of the page, by its title. */
export const cardOf = (page: Page, title: string): Locator =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });

export const rowOf = (where: Page | Locator, text: string | RegExp): Locator =>
  where.getByRole('row').filter({ hasText: text });

export const press = (where: Page | Locator, name: string): Promise<void> =>
  where.getByRole('button', { name, exact: true }).click();

/** Opens a page by the menu: the pages themselves may have links with the same name. */
export const openByMenu = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click();

/** Fills in the open dialog, presses its button and waits until the dialog is closed. */
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

/** Chooses the partner that is suggested for a part of its name. */
export async function choosePartner(page: Page, part: string): Promise<void> {
  const field = page.getByRole('combobox', { name: 'Partner' });
  await field.fill(part);
  const option = page.locator(`datalist option[value*="${part}"]`);
  await option.waitFor({ state: 'attached' });
  await field.fill((await option.getAttribute('value'))!);
}

/** Decides on the page of a payment: button, reason, confirmation. */
export async function resolve(page: Page, outcome: 'succeeded' | 'failed', reason: string): Promise<void> {
  const name = `Mark as ${outcome}`;
  await press(page, name);
  const dialog = page.getByRole('dialog', { name });
  await dialog.getByLabel('Reason').fill(reason);
  await press(dialog, name);
}

/** Presses the button and returns the file that is downloaded. */
export async function save(
  where: Page | Locator,
  page: Page,
  button: string,
): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), press(where, button)]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

/** Holds back answers of this address until released, so that the page surely shows old data. */
export async function keepStale(page: Page, address: string): Promise<() => void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(`**/console/api/${address}`, async route => {
    await released;
    // The page may have aborted the request by then.
    await route.continue().catch(() => {});
  });
  return release;
}
