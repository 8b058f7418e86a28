import { expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { describeInBrowser, openWorld } from './world.ts';

// A violation of the policy is an error in the browser's console, and fails the test.
describeInBrowser('the API reference', async browser => {
  const { pool } = await createDatabase();
  const { visit, announce } = await openWorld({ pool }, browser);

  test('is shown under a policy without inline scripts', async () => {
    const page = await visit();
    await page.goto('/docs/');
    await page.getByRole('heading', { name: 'Kopeck partner API' }).first().waitFor();
    await page.getByRole('link', { name: 'Payments' }).first().click();
    await page.getByText('/v1/payments').first().waitFor();
    expect(await page.title()).toContain('Kopeck partner API');
    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('button', { name: /Send/ }).first().waitFor();

    announce(/Content Security Policy/);
    await page.evaluate(`{
      const script = document.createElement('script');
      script.textContent = 'globalThis.hasRun = true';
      document.body.append(script);
    }`);
    expect(await page.evaluate('globalThis.hasRun')).toBeUndefined();
  });
});
