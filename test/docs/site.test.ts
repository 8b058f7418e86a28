import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { openOrders } from '../../examples/shop/orders.ts';
import { createShop } from '../../examples/shop/shop.ts';
import { Kopeck } from '../../sdk/src/index.ts';
import { languageOf } from '../../src/api/docs/locale.ts';
import type { ApiDocument } from '../../src/api/docs/reference/document.ts';
import { createSite } from '../../src/api/docs/site.ts';
import { staticFileRoutes } from '../../src/web/static-files.ts';
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
const visited = await crawl(address);
const ask = (path: string, method = 'GET', headers: Record<string, string> = {}) =>
  fetch(`${address}${path}`, {
    method,
    redirect: 'manual',
    headers: { 'accept-encoding': 'br, gzip', ...headers },
  });
const own = [...visited.keys(), '/docs/search.json', '/docs/ru/search.json', '/robots.txt', '/llms.txt'];
const assets = own.filter(path => path.startsWith('/docs/assets/'));

test('the landing page leads to everything', () => {
  const landing = visited.get('/')!.links.map(({ pathname }) => pathname);
  expect(landing).toEqual(
    expect.arrayContaining([
      '/docs/',
      '/docs/guides/first-payment',
      '/docs/reference/',
      '/docs/library',
      '/openapi.json',
      '/ru/',
    ]),
  );
  expect(landing).not.toContain('/portal/');
  for (const [path, { response }] of visited) expect(response.status, path).toBe(200);
});

test('every page is in the side bar of every other of its language, and has one first heading, a title and our icon', () => {
  const pages = [...visited.keys()].filter(path => /^\/docs\/(?!assets|.*\.md$)/.test(path));
  expect(pages.length).toBeGreaterThan(30);
  for (const path of pages) {
    const { text } = visited.get(path)!;
    const [, sideBar = ''] = text.split('<nav id="menu"');
    for (const other of pages.filter(one => languageOf(one) === languageOf(path)))
      expect(sideBar.split('</nav>')[0], path).toContain(`href="${other}"`);
    expect(text.match(/<h1[ >]/g), path).toHaveLength(1);
    expect(text.match(/aria-current="page"/g), path).toHaveLength(1);
    expect(text, path).toMatch(/<title>[^<]+ · Kopeck<\/title>/);
    expect(text, path).toMatch(
      /<link rel="icon" type="image\/svg\+xml" href="\/docs\/assets\/[\w-]+\/icon\.svg">/,
    );
  }
  const icon = assets.find(path => path.endsWith('/icon.svg'))!;
  const ofConsole = readFileSync(join(import.meta.dirname, '../../web/public/icon.svg'), 'utf8');
  expect(visited.get(icon)!.text).toBe(ofConsole);
});

test.each(own)('%s is compressed, can be revalidated, and answers HEAD as GET without a body', async path => {
  const [head, get] = [await ask(path, 'HEAD'), await ask(path)];
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect((await get.text()).length).toBeGreaterThan(0);
  expect(head.headers.get('content-encoding')).toBe('br');
  for (const name of [
    'content-length',
    'content-type',
    'content-security-policy',
    'etag',
    'cache-control',
    'vary',
  ])
    expect(head.headers.get(name), name).toBe(get.headers.get(name));
  const again = await ask(path, 'GET', { 'if-none-match': get.headers.get('etag')! });
  expect([again.status, await again.text()]).toEqual([304, '']);
});

test('pages are asked for again, assets are kept', async () => {
  for (const path of own) {
    const isAsset = path.startsWith('/docs/assets/');
    const kept = isAsset ? 'public, max-age=31536000, immutable' : 'no-cache';
    const expected = path === '/favicon.ico' ? 'public, max-age=86400' : kept;
    expect((await ask(path, 'HEAD')).headers.get('cache-control'), path).toBe(expected);
  }
});

describe('size', () => {
  const bytesOf = async (path: string) => Number((await ask(path, 'HEAD')).headers.get('content-length'));

  test.each(own.filter(path => /^\/(?!openapi|docs\/assets|.*\.\w+$)/.test(path)))(
    '%s with all that it loads and the index of the search',
    async path => {
      const loaded = visited
        .get(path)!
        .text.matchAll(/(?:src|<link rel="(?:icon|stylesheet)"[^>]* href)="([^"]+)"/g);
      const index = languageOf(path) === 'ru' ? '/docs/ru/search.json' : '/docs/search.json';
      const paths = new Set([path, index, ...Array.from(loaded, ([, target]) => target!)]);
      const sizes = await Promise.all(Array.from(paths, bytesOf));
      expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(60_000);
    },
  );
});

test.each([
  ['/docs', '/docs/'],
  ['/docs/guides', '/docs/guides/'],
  ['/docs/reference', '/docs/reference/'],
  ['/docs/changelog/', '/docs/changelog'],
  ['/docs/guides/errors/?from=mail', '/docs/guides/errors'],
  ['/ru', '/ru/'],
  ['/docs/ru', '/docs/ru/'],
  ['/docs/ru/guides', '/docs/ru/guides/'],
])('%s leads to %s', async (path, target) => {
  for (const method of ['GET', 'HEAD']) {
    const answer = await ask(path, method);
    expect([answer.status, answer.headers.get('location')]).toEqual([308, target]);
  }
});

/** In absolute form, as a proxy may send it. */
async function askAbsolutely(target: string): Promise<{ status: number; location?: string; body: string }> {
  const { hostname, port } = new URL(address);
  const sent = request({ hostname, port, path: target, headers: { host: new URL(target).host } });
  const [answer] = (await once(sent.end(), 'response')) as [IncomingMessage];
  const { statusCode: status = 0, headers } = answer;
  return { status, ...(headers.location && { location: headers.location }), body: await text(answer) };
}

test('a page is found by a URL in absolute form too', async () => {
  for (const host of [address, 'http://docs.example', 'https://docs.example']) {
    expect(await askAbsolutely(`${host}/docs/?a=/b`)).toEqual({
      status: 200,
      body: visited.get('/docs/')!.text,
    });
    expect(await askAbsolutely(`${host}/docs`)).toMatchObject({ status: 308, location: '/docs/' });
    expect(await askAbsolutely(`${host}/`)).toMatchObject({ status: 200, body: visited.get('/')!.text });
    expect((await askAbsolutely(`${host}/docs/nothing`)).status).toBe(404);
  }
});

test('all files can be made ahead', async () => {
  const site = await createSite((await (await ask('/openapi.json')).json()) as ApiDocument, {
    hasPortal: false,
  });
  const isMade = () => Promise.race([site.find('/docs/search.json')!.then(() => true), nextTurn(false)]);
  await site.renderAll();
  // The index of the search takes many turns.
  expect(await isMade()).toBe(true);
});

test('the first pages name the Telegram bot, if there is one', async () => {
  const other = await startSite(async () => {}, { telegramBotName: 'kopeck_bot' });
  for (const path of ['/', '/docs/', '/ru/', '/docs/ru/']) {
    expect(await (await fetch(other + path)).text()).toContain('href="https://t.me/kopeck_bot"');
    expect(visited.get(path)!.text).not.toContain('t.me');
  }
});

test('what a partner sends may be required, what the service sends is not', () => {
  expect(visited.get('/docs/reference/create-payment')!.text).toContain('class="label required"');
  expect(visited.get('/docs/events/payment-succeeded')!.text).not.toContain('class="label required"');
});

test('the changelog has what partners notice, not how the service is run', () => {
  const changelog = visited.get('/docs/changelog')!.text;
  expect(changelog).toContain('<h1 id="changelog">Changelog</h1>');
  expect(changelog).toContain('Idempotency-Key');
  for (const word of ['PostgreSQL', 'METRICS_PORT', 'kopeck backup', 'console'])
    expect(changelog).not.toContain(word);
});

test('the landing page leads to the portal, if it is served, and its first request goes to this service', async () => {
  const options = { portal: async () => {}, publicUrl: 'https://pay.example.com/' };
  const other = await startSite(async () => {}, options);
  for (const path of ['/', '/ru/']) {
    const landing = await (await fetch(other + path)).text();
    expect(landing).toContain('href="/portal/"');
    expect(landing).toContain('KOPECK_URL=https://pay.example.com\n');
    // Without a public URL, it goes to the port where the service is.
    expect(visited.get(path)!.text).toContain(`KOPECK_URL=${address}\n`);
  }
});

/** All pages: what the routes are asked for, and what the documentation links to. */
async function fetchPages(): Promise<Response[]> {
  const paths = new Set([
    ...urls.map(url => url.replace(/(:\w+|\*)$/, '')),
    ...visited.keys(),
    '/docs/nothing',
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
      '/ru/',
      '/docs/',
      '/docs/nothing',
      '/docs/ru/',
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
