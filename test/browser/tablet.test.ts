import { expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { startSimulator } from '../helpers/simulator.ts';
import { insertSampleData } from './sample-data.ts';
import { describeInBrowser, openWorld, takePicture, untilLoaded } from './world.ts';

describeInBrowser('on a tablet', async browser => {
  const { pool } = await createDatabase();
  const bank = await startSimulator();
  const world = await openWorld({ pool, gatewayUrl: bank.address }, browser);
  await insertSampleData(world, bank);
  await pool.query('UPDATE open_payments SET support_since = now()');

  const overdue = { en: 'Overdue', ru: 'Просрочен' };

  test.each(['en', 'ru'] as const)('the review needs no scrolling sideways: %s', async language => {
    const page = await world.as('admin', { language, width: 768 });
    await page.goto('/console/review');
    await untilLoaded(page);
    expect(await page.locator('.table tbody tr', { hasText: overdue[language] }).count()).toBeGreaterThan(1);
    await takePicture(page, `review-tablet-${language}`);
    const frame = page.locator('.table-frame');
    const [content, visible] = await frame.evaluate(one => [one.scrollWidth, one.clientWidth]);
    expect(content).toBe(visible);
  });
});
