import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { openByMenu } from './page-actions.ts';
import { describeInBrowser, openWorld } from './world.ts';

/** A console that was opened before an update asks for files of the version before it. */
describeInBrowser('a console from before an update', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  const file = '**/assets/recipients-*.js';
  const broke = 'This page could not be displayed';
  const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor();

  /** An open console, one file of which the new version does not have, and how often its page was loaded since. */
  async function openBefore(isGone: () => boolean) {
    const page = await world.as('admin');
    let loads = 0;
    await page.route(file, route => (isGone() ? route.fulfill({ status: 404, body: '' }) : route.continue()));
    const lastPreload = page.waitForResponse(response => response.url().includes('/assets/settings-'));
    await page.goto('/console/');
    await heading(page, 'Overview');
    // The preload of the page has failed, and nothing was reloaded.
    await lastPreload;
    page.on('request', request => {
      if (request.isNavigationRequest()) loads += 1;
    });
    return { page, loads: () => loads, open: () => openByMenu(page, 'Recipients') };
  }

  test('reloads itself when a page is opened whose file is gone', async () => {
    world.announceRefusals(404);
    let isGone = true;
    const { page, loads, open } = await openBefore(() => isGone);
    page.on('request', request => {
      if (request.isNavigationRequest()) isGone = false;
    });
    expect(loads()).toBe(0);
    await open();
    await heading(page, 'Recipients');
    expect(new URL(page.url()).pathname).toBe('/console/recipients');
    expect(loads()).toBe(1);
  });

  test('reloads itself only once if that does not help', async () => {
    world.announceRefusals(404);
    world.announce(/dynamically imported module/);
    const { page, loads, open } = await openBefore(() => true);
    await open();
    await page.getByText(broke).waitFor();
    expect(loads()).toBe(1);
    await page.goto('/console/');
    await open();
    await page.getByText(broke).waitFor();
    expect(loads()).toBe(2);
  });

  test('keeps the page without a connection', async () => {
    world.announce(/net::ERR/, /dynamically imported module/);
    world.announceRefusals(404);
    const { page, loads, open } = await openBefore(() => true);
    await page.route('**/*', route => route.abort('connectionrefused'));
    await open();
    await page.getByText(broke).waitFor();
    expect(loads()).toBe(0);
  });
});
