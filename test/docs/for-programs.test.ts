import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { startSite } from './site-world.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const address = await startSite();
const get = async (path: string) => {
  const response = await fetch(address + path);
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};

/** The targets of Markdown links, without those in code. */
const linksIn = (text: string) =>
  Array.from(text.replaceAll(/```[\s\S]*?```/g, '').matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target!);

test('/robots.txt allows the landing page and the documentation, not the API and the pages behind a sign-in', async () => {
  const { status, type, text } = await get('/robots.txt');
  expect([status, type]).toEqual([200, 'text/plain; charset=utf-8']);
  const rules = Array.from(text.matchAll(/^(Allow|Disallow): (\S+)$/gm), ([, rule, path]) => ({
    rule,
    path: path!,
  }));
  /** The longest rule that fits wins (RFC 9309). */
  const isAllowed = (path: string) =>
    rules.filter(rule => path.startsWith(rule.path)).sort((a, b) => b.path.length - a.path.length)[0]
      ?.rule !== 'Disallow';
  for (const path of ['/', '/ru/', '/docs/', '/docs/ru/guides/webhooks', '/openapi.json', '/llms.txt'])
    expect(isAllowed(path), path).toBe(true);
  for (const path of ['/v1/payments', '/console/', '/console', '/portal/', '/portal/api/session'])
    expect(isAllowed(path), path).toBe(false);
});

test('/llms.txt lists the Markdown of every guide in both languages, and each is there', async () => {
  const { status, type, text } = await get('/llms.txt');
  expect([status, type]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(text).toMatch(/^# Kopeck\n\n> /);
  const links = linksIn(text);
  expect(links).toEqual(
    expect.arrayContaining([
      '/docs/guides.md',
      '/docs/guides/webhooks.md',
      '/docs/library.md',
      '/docs/changelog.md',
      '/docs/ru/guides.md',
      '/docs/ru/guides/webhooks.md',
      '/docs/ru/library.md',
      '/docs/ru/changelog.md',
      '/openapi.json',
    ]),
  );
  for (const link of links) expect((await get(link)).status, link).toBe(200);
});

test.each([
  ['/docs/guides/webhooks', 'docs/guides/webhooks.md'],
  ['/docs/ru/guides/webhooks', 'docs/guides/ru/webhooks.md'],
  ['/docs/ru/guides/errors', 'docs/guides/ru/errors.md'],
])(
  'the source of %s is its document, with links to pages and sources of the same language',
  async (path, file) => {
    const { status, type, text } = await get(`${path}.md`);
    expect([status, type]).toEqual([200, 'text/markdown; charset=utf-8']);
    const withoutTargets = (markdown: string) => markdown.replaceAll(/\]\([^)\s]+\)/g, ']');
    const blocks = (markdown: string) => withoutTargets(markdown).split('```').slice(1);
    expect(blocks(text).length).toBe(blocks(read(file)).length);
    expect(text.split('\n', 1)).toEqual(read(file).split('\n', 1));
    const links = linksIn(text).filter(target => target.startsWith('/'));
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) {
      expect((await get(link)).status, link).toBe(200);
      if (link.startsWith('/docs/'))
        expect(link.startsWith('/docs/ru/'), link).toBe(path.startsWith('/docs/ru/'));
    }
    const page = await get(path);
    expect(page.text).toContain(`<link rel="alternate" type="text/markdown" href="${path}.md">`);
  },
);

test('with a public address /llms.txt has full links', async () => {
  const other = await startSite(async () => {}, { publicUrl: 'https://pay.example.com' });
  const text = await (await fetch(`${other}/llms.txt`)).text();
  for (const link of linksIn(text)) expect(link).toMatch(/^https:\/\/pay\.example\.com\//);
});

test('/favicon.ico is our icon as PNG', async () => {
  const response = await fetch(`${address}/favicon.ico`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/x-icon']);
  const file = Buffer.from(await response.arrayBuffer());
  expect([file.readUInt16LE(0), file.readUInt16LE(2), file.readUInt16LE(4)]).toEqual([0, 1, 1]);
  const [length, start] = [file.readUInt32LE(14), file.readUInt32LE(18)];
  expect(start + length).toBe(file.length);
  const { width, height, data } = PNG.sync.read(file.subarray(start));
  expect([width, height]).toEqual([32, 32]);
  const colourAt = (x: number, y: number) => [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
  // The ground, a stroke of the letter, and a corner outside of the rounded square.
  expect(colourAt(16, 3)).toEqual([0x2b, 0x5f, 0xc4, 255]);
  expect(colourAt(11, 16)).toEqual([255, 255, 255, 255]);
  expect(colourAt(0, 0)[3]).toBe(0);
});
