import { mkdirSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { answers, startConsole } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';

const { pool } = await createDatabase();
const pagesFolder = join(newFolder(), 'dist');
const script = 'console.log("hello")';
mkdirSync(join(pagesFolder, 'assets'), { recursive: true });
writeFileSync(join(pagesFolder, 'index.html'), '<title>Kopeck</title>');
writeFileSync(join(pagesFolder, 'sources.sha256'), 'abc');
writeFileSync(join(pagesFolder, '.hidden.js'), 'secret');
writeFileSync(join(pagesFolder, '..', 'outside.js'), 'secret');
writeFileSync(join(pagesFolder, 'assets', 'index-abc.js'), script);
writeFileSync(join(pagesFolder, 'assets', 'index-abc.js.br'), brotliCompressSync(script));
writeFileSync(join(pagesFolder, 'assets', 'index-abc.js.gz'), gzipSync(script));
const { address, visit } = await startConsole({ pool, pagesFolder });

test.each(['/console/', '/console/payments', '/console/payments/pay_1?x=1', '/console/setup'])(
  '%s returns the page with no-store',
  async path => {
    const response = await fetch(`${address}${path}`);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('<title>Kopeck');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  },
);

test('/console redirects to /console/', async () => {
  const response = await fetch(`${address}/console`, { redirect: 'manual' });
  expect([response.status, response.headers.get('location')]).toEqual([308, '/console/']);
});

test.each([
  '/console/assets/other.js',
  '/console/sources.sha256',
  '/console/..%2fpackage.json',
  '/console/assets/index-abc.js.br',
  '/console/.hidden.js',
  '/console/%2ehidden.js',
  '/console/..%2foutside.js',
  '/console/assets/..%2f..%2foutside.js',
  '/console/assets/..%5c..%5coutside.js',
  '/console/%00.js',
  '/console//etc/hosts.js',
])('%s is not found', async path => {
  expect((await fetch(`${address}${path}`)).status).toBe(404);
});

const raw = (path: string, acceptEncoding: string) =>
  new Promise<{ encoding: string | undefined; body: Buffer; caching: string | undefined }>(
    (resolve, reject) => {
      get(`${address}${path}`, { headers: { 'accept-encoding': acceptEncoding } }, response => {
        const chunks: Buffer[] = [];
        response.on('data', chunk => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            encoding: response.headers['content-encoding'],
            caching: response.headers['cache-control'],
            body: Buffer.concat(chunks),
          }),
        );
      }).on('error', reject);
    },
  );

test('assets are compressed as the browser accepts, and cached as immutable', async () => {
  const asset = '/console/assets/index-abc.js';
  const best = await raw(asset, 'gzip, deflate, br');
  expect(best).toMatchObject({ encoding: 'br', caching: 'public, max-age=31536000, immutable' });
  expect(`${brotliDecompressSync(best.body)}`).toBe(script);
  expect((await raw(asset, 'gzip')).encoding).toBe('gzip');
  expect((await raw(asset, 'br;q=0, gzip;q=0.5')).encoding).toBe('gzip');
  expect(await raw(asset, 'identity')).toMatchObject({ encoding: undefined, body: Buffer.from(script) });
});

test('a file has its content type, and varies by encoding', async () => {
  const { headers } = await fetch(`${address}/console/assets/index-abc.js`);
  expect(headers.get('content-type')).toBe('application/javascript; charset=utf-8');
  expect(headers.get('vary')?.toLowerCase()).toBe('accept-encoding');
  expect(headers.get('etag')).toBeNull();
});

test('every answer has the security headers', async () => {
  for (const path of [
    '/console/',
    '/console/assets/index-abc.js',
    '/console/nothing.js',
    '/console/api/session',
  ]) {
    const { headers } = await fetch(`${address}${path}`);
    const policy = headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
    });
  }
  expect((await visit().get('/session')).headers.get('cache-control')).toBe('no-store');
});

test('pages that are not built: one line that names the fix', async () => {
  const bare = await startConsole({ pool, pagesFolder: newFolder() });
  for (const path of ['/console/', '/console/payments', '/console/assets/x.js']) {
    const response = await fetch(`${bare.address}${path}`);
    expect(response.status).toBe(503);
    expect(await response.text()).toMatch(/^[^\n]+`npm run build`[^\n]+\n$/);
  }
  await answers(401, bare.visit().get('/session'));
});
