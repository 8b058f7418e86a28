import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openOrders } from '../../examples/shop/orders.ts';
import { createShop } from '../../examples/shop/shop.ts';
import { Kopeck } from '../../sdk/src/index.ts';
import { documentApi } from '../../src/api/docs/openapi.ts';
import { createFastify } from '../../src/api/http/fastify.ts';
import { systemClock } from '../../src/base/clock.ts';
import { staticFileRoutes } from '../../src/console/static-files.ts';
import { newFolder } from '../helpers/folders.ts';
import { startSimulator } from '../helpers/simulator.ts';

/** What routes with parameters are asked for. */
const folder = join(import.meta.dirname, '..', '..', 'docs', 'guides');
const guides = readdirSync(folder).map(name => name.replace(/^README\.md$|\.md$/, ''));
const valuesOf: Record<string, string[]> = { '/docs/guides/:name': guides, '/console/*': ['', 'payments'] };

/** The documentation and the console's pages on one server, and the paths of all its routes for GET. */
async function startPages() {
  const server = createFastify({ clock: systemClock, trustProxy: [] });
  const paths: string[] = [];
  server.addHook('onRoute', ({ method, url }) => {
    if (![method].flat().includes('GET')) return;
    const values = valuesOf[url] ?? [''];
    paths.push(...values.map(value => url.replace(/(:\w+|\*)$/, value)));
  });
  await documentApi(server);
  const pages = newFolder();
  writeFileSync(join(pages, 'index.html'), '<title>Kopeck</title>');
  await server.register(async scope => staticFileRoutes(scope, pages), { prefix: '/console' });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  afterAll(() => server.close());
  return { address, paths };
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
  const { address, paths } = await startPages();
  const answers = await Promise.all(paths.map(path => fetch(`${address}${path}`, { redirect: 'manual' })));
  const pages = answers.filter(answer => typeOf(answer).startsWith('text/html'));
  const found = pages.map(({ url }) => new URL(url).pathname);
  expect(found).toEqual(
    expect.arrayContaining(['/docs/', '/docs/guides/', '/console/', '/console/payments']),
  );
  expect(found.filter(path => path.startsWith('/docs/guides/'))).toHaveLength(guides.length);
  pages.forEach(expectPageHeaders);
});

test.each([
  ['the simulator', async () => (await startSimulator()).address, '/'],
  ['the example shop', startShop, '/'],
])('the page of %s has a strict policy', async (_name, start, path) => {
  const page = await fetch(`${await start()}${path}`);
  expect(typeOf(page)).toMatch(/^text\/html/);
  expectPageHeaders(page);
});

test('no page has an inline script', async () => {
  const { address, paths } = await startPages();
  for (const path of paths) {
    const response = await fetch(`${address}${path}`, { redirect: 'manual' });
    if (!typeOf(response).startsWith('text/html')) continue;
    expect(await response.text(), path).not.toMatch(/<script(?![^>]* src=)|<[^>]* on[a-z]+=/);
  }
});
