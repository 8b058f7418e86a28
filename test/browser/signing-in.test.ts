import { describe, expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { findBarriers, openBrowser, openWorld } from './world.ts';

const browser = await openBrowser();

describe.skipIf(!browser)('signing in', async () => {
  if (!browser) return;
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);

  test('a window with a session shows who it is', async () => {
    const page = await world.as('support', { name: 'vera' });
    await page.goto('/console/');
    await page.getByText('vera').first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
  });
});
