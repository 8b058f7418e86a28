import axe from 'axe-core';
import { describe, expect, test } from 'vitest';
import { openBrowser } from '../browser/chromium.ts';
import { startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { guides } from './snippets.ts';

const { pool } = await createDatabase();
const { address } = await startApi({ pool });
const paths = guides.map(({ name }) => (name === 'README' ? '/docs/guides/' : `/docs/guides/${name}`));

test('every guide is a page that runs nothing and loads its style only', async () => {
  for (const path of paths) {
    const response = await fetch(address + path);
    expect(response.status, path).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toMatch(/^default-src 'none'; style-src 'self'; img-src data:;/);
    expect(policy).not.toMatch(/script|unsafe|https?:|\*/);
    const html = await response.text();
    expect(html).not.toMatch(/<script|\sstyle=|\son\w+=/);
    for (const [, target = ''] of html.matchAll(/href="([^"]*)"/g)) {
      if (/^(data:,|#)/.test(target)) continue;
      expect((await fetch(new URL(target, response.url))).status, `${path}: ${target}`).toBe(200);
    }
  }
});

test('the reference leads to them; what is not there is not found as everywhere', async () => {
  const short = await fetch(`${address}/docs/guides`, { redirect: 'manual' });
  expect([short.status, short.headers.get('location')]).toEqual([308, '/docs/guides/']);
  expect(await (await fetch(`${address}/openapi.json`)).text()).toContain('(/docs/guides/)');
  for (const name of ['nothing', 'README', 'README.md', '..%2f..%2fpackage.json', '__proto__']) {
    const response = await fetch(`${address}/docs/guides/${name}`);
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
  }
});

const browser = await openBrowser();

describe.skipIf(!browser)('in a browser', () => {
  test.each(['light', 'dark'] as const)('they are quiet and readable, %s', async colorScheme => {
    const context = await browser!.newContext({ colorScheme, viewport: { width: 360, height: 700 } });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', message => complaints.push(message.text()));
    page.on('pageerror', error => complaints.push(error.message));
    page.on('request', request => {
      if (!request.url().startsWith(`${address}/docs/guides/`) && !request.url().startsWith('data:'))
        complaints.push(`request to ${request.url()}`);
    });
    // What the colours change is the same on all of them.
    for (const path of colorScheme === 'light' ? paths : paths.slice(0, 2)) {
      await page.goto(address + path);
      expect(await page.locator('h1').count(), path).toBe(1);
      const { fits, ground } = await page.evaluate<{ fits: boolean; ground: string }>(
        '({ fits: document.documentElement.scrollWidth <= innerWidth, ground: getComputedStyle(document.body).backgroundColor })',
      );
      expect(fits, `${path} is wider than a phone`).toBe(true);
      expect(ground).toBe({ light: 'rgb(255, 255, 255)', dark: 'rgb(20, 23, 27)' }[colorScheme]);
    }
    // It has everything that a page can have, and axe takes its time.
    await page.goto(`${address}/docs/guides/first-payment`);
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
