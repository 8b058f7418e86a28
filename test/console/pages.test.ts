import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
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

/** In a copy, because other tests serve the build of the repository. */
const repository = join(import.meta.dirname, '..', '..');
const copy = newFolder();
for (const part of ['package.json', 'package-lock.json', 'tsconfig.json', 'web'])
  cpSync(join(repository, part), join(copy, part), {
    recursive: true,
    filter: file => !/\.dist|\.building|web.dist/.test(file),
  });
symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'));
// The content does not matter here, and a small page builds faster.
for (const app of ['', 'portal'])
  writeFileSync(join(copy, 'web', 'src', app, 'main.tsx'), 'document.title = "Kopeck";');
const web = join(copy, 'web');
const dist = join(web, 'dist');
const lock = join(web, '.building');
const forget = () => rmSync(join(dist, 'sources.sha256'), { force: true });
const build = async () => (await promisify(execFile)(process.execPath, [join(web, 'build.ts')])).stdout;

test('concurrent builds build once, and an up-to-date build is not repeated', async () => {
  forget();
  const lines = await Promise.all([build(), build(), build()]);
  expect(lines.filter(line => line !== '')).toEqual(['Building the pages …\n']);
  expect(await build()).toBe('');
  expect(readdirSync(web).filter(name => name.startsWith('.'))).toEqual([]);
});

test.each([
  ['has ended', () => '999999999', new Date()],
  ['was killed long ago, and whose pid is in use again', () => `${process.pid}`, new Date(0)],
])('a build does not wait for a process that %s', async (_what, pid, at) => {
  forget();
  // It gets as far as the first import, which is quick.
  renameSync(join(copy, 'node_modules'), join(copy, 'away'));
  writeFileSync(lock, pid());
  utimesSync(lock, at, at);
  await expect(build()).rejects.toMatchObject({ stdout: expect.stringContaining('vite is not installed') });
  expect(existsSync(lock)).toBe(false);
  renameSync(join(copy, 'away'), join(copy, 'node_modules'));
});

test('every file is compressed too, and loads nothing from other hosts', () => {
  const dist = join(repository, 'web', 'dist');
  const assets = readdirSync(join(dist, 'assets')).filter(name => /\.(js|css)$/.test(name));
  expect(assets.length).toBeGreaterThan(5);
  for (const name of assets) {
    const read = (end: string) => readFileSync(join(dist, 'assets', `${name}${end}`));
    expect(brotliDecompressSync(read('.br')).equals(read(''))).toBe(true);
    expect(gunzipSync(read('.gz')).equals(read(''))).toBe(true);
    // Also when a test builds it with another NODE_ENV.
    expect(read('').includes('React DevTools')).toBe(false);
  }
  const page = readFileSync(join(dist, 'index.html'), 'utf8');
  // Nothing inline: the content security policy would refuse it.
  expect(page).not.toMatch(/<script(?![^>]* src=)|<style|style=|https?:/);
});
