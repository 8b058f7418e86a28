import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openOrders } from '../../examples/shop/orders.ts';
import { createShop } from '../../examples/shop/shop.ts';
import { Kopeck } from '../../sdk/src/index.ts';
import { staticFileRoutes } from '../../src/web/index.ts';
import { newFolder } from '../helpers/folders.ts';
import { startSimulator } from '../helpers/simulator.ts';
import { crawl, startSite } from './site-world.ts';

/** The documentation and the console's pages on one server. */
const pages = newFolder();
writeFileSync(join(pages, 'index.html'), '<title>Kopeck</title>');
const urls: string[] = [];
const address = await startSite(async server => {
  server.addHook('onRoute', ({ method, url }) => void ([method].flat().includes('GET') && urls.push(url)));
  await server.register(async scope => staticFileRoutes(scope, 'console', pages), { prefix: '/console' });
});
const documentation = await crawl(address);

/** All pages: what the routes are asked for, and what the documentation links to. */
async function fetchPages(): Promise<Response[]> {
  const paths = new Set([
    ...urls.map(url => url.replace(/(:\w+|\*)$/, '')),
    ...documentation.keys(),
    '/console/payments',
  ]);
  const answers = await Promise.all(
    Array.from(paths, path => fetch(`${address}${path}`, { redirect: 'manual' })),
  );
  return answers.filter(answer => typeOf(answer).startsWith('text/html'));
}

async function startShop(): Promise<string> {
  const orders = await openOrders(join(newFolder(), 'orders.jsonl'));
  const kopeck = new Kopeck({ apiKey: `svc_test_${'0'.repeat(60)}`, baseUrl: 'http://127.0.0.1:1' });
  const shop = createShop({ kopeck, orders, webhookSecret: 'whsec_test' });
  afterAll(() => shop.close());
  return shop.listen({ host: '127.0.0.1', port: 0 });
}

const typeOf = ({ headers }: Response) => headers.get('content-type') ?? '';

/** Which sources may give scripts: `script-src`, or else `default-src`. */
function scriptSources(policy: string): string | undefined {
  const directives = new Map(policy.split('; ').map(text => text.split(/ (.*)/, 2) as [string, string]));
  return directives.get('script-src') ?? directives.get('default-src');
}

function expectPageHeaders(response: Response): void {
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(["'self'", "'none'"], response.url).toContain(scriptSources(policy));
  expect(policy.split('; '), response.url).toEqual(
    expect.arrayContaining(["frame-ancestors 'none'", "base-uri 'none'"]),
  );
  expect(response.headers.get('x-content-type-options'), response.url).toBe('nosniff');
  expect(['no-referrer', 'same-origin'], response.url).toContain(response.headers.get('referrer-policy'));
}

test('every page of the service has a strict policy', async () => {
  const found = await fetchPages();
  expect(found.map(({ url }) => new URL(url).pathname)).toEqual(
    expect.arrayContaining([
      '/',
      '/docs/',
      '/docs/guides/',
      '/docs/guides/first-payment',
      '/docs/reference/create-payment',
      '/docs/changelog',
      '/console/',
      '/console/payments',
    ]),
  );
  found.forEach(expectPageHeaders);
});

test.each([
  ['the simulator', async () => (await startSimulator()).address, '/'],
  ['the example shop', startShop, '/'],
])('the page of %s has a strict policy', async (_name, start, path) => {
  const page = await fetch(`${await start()}${path}`);
  expect(typeOf(page)).toMatch(/^text\/html/);
  expectPageHeaders(page);
});

test('no page has an inline script or style', async () => {
  for (const page of await fetchPages())
    expect(await page.text(), page.url).not.toMatch(
      /<script(?![^>]* src=)|<style|<[^>]* (?:on[a-z]+|style)=/,
    );
});
