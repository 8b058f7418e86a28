import { expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { openByMenu } from './page-actions.ts';
import { countEffects, openShop } from './shop.ts';
import { describeInBrowser, openWorld } from './world.ts';

describeInBrowser('a viewer', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  const { deps } = world;
  const shop = await openShop(world);

  test('sees every action disabled, with the role that it needs', async () => {
    const paymentId = await shop.inReview();
    await deps.alarms.raise({ kind: 'rate_jump', subject: 'fixed', detail: 'by 12 %' });
    const page = await world.as('viewer');
    await page.goto(`/console/payments/${paymentId}`);
    for (const name of ['Check status', 'Mark as succeeded', 'Mark as failed']) {
      const button = page.getByRole('button', { name });
      await button.waitFor();
      expect(await button.getAttribute('aria-disabled')).toBe('true');
      await button.click({ force: true });
    }
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByText('Required role: support, finance or administrator').first().waitFor();
    await openByMenu(page, 'Manual review');
    expect(await page.getByRole('button', { name: 'Check status' }).getAttribute('aria-disabled')).toBe(
      'true',
    );
    await openByMenu(page, 'Overview');
    expect(await page.getByRole('button', { name: 'Clear' }).getAttribute('aria-disabled')).toBe('true');
  });

  test('is refused by the API if the page calls it anyway', async () => {
    const paymentId = await shop.inReview();
    const { rows } = await pool.query('SELECT count(*)::int AS count FROM audit');
    const page = await world.as('viewer');
    await page.goto('/console/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const refusable = world.routes
      .filter(({ method, url }) => method === 'POST' && url.startsWith('/console/api/'))
      .filter(({ needs }) => needs !== 'nothing' && needs !== 'see')
      .map(({ url }) => url);
    expect(refusable.length).toBeGreaterThan(20);
    world.announceRefusals(403);
    const answers = await page.evaluate(
      async paths => {
        const session = await (await fetch('/console/api/session')).json();
        const { csrf_token } = session as { csrf_token: string };
        const post = async (path: string) => {
          const headers = { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf_token };
          const response = await fetch(path, { method: 'POST', headers, body: '{}' });
          const { error } = (await response.json()) as { error?: { code: string } };
          return `${path} ${response.status} ${error?.code}`;
        };
        return Promise.all(paths.map(post));
      },
      refusable.map(url => url.replace(/:\w+/, paymentId)),
    );
    expect(answers.filter(answer => !answer.endsWith(' 403 forbidden'))).toEqual([]);
    expect(await countEffects(deps, paymentId)).toMatchObject({ status: 'processing', resolutions: 0 });
    expect((await pool.query('SELECT count(*)::int AS count FROM audit')).rows).toEqual(rows);
  });
});
