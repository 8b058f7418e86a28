import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { newFolder } from '../helpers/folders.ts';

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
