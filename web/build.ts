import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/**
 * Builds `web/dist` from the sources, with a compressed copy of every file; does nothing when it is up to date. It runs
 * after an installation and on every start, perhaps in several processes at once.
 */
const folder = import.meta.dirname;
const dist = join(folder, 'dist');
const lock = join(folder, '.building');
const digestName = 'sources.sha256';

/** Of all sources of the pages. What they import from the service is types only and does not change the build. */
function digestOfSources(): string {
  const sources = ['src', 'public'].flatMap(name =>
    fs
      .readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name)),
  );
  const others = ['index.html', 'vite.config.ts', 'build.ts', join('..', 'package-lock.json')];
  const digest = createHash('sha256');
  for (const file of [...sources.sort(), ...others.map(name => join(folder, name))])
    digest
      .update(`${file.slice(folder.length)}\0`)
      .update(fs.readFileSync(file))
      .update('\0');
  return digest.digest('hex');
}

function isBuiltFrom(digest: string): boolean {
  try {
    return fs.readFileSync(join(dist, digestName), 'utf8') === digest;
  } catch {
    return false;
  }
}

/** A build takes seconds; an older lock was left behind, even if another process has its pid now. */
const maxBuildMs = 60_000;

/** One process builds, the others wait for it. The lock of a process that has died is removed. */
async function underLock(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      fs.writeFileSync(lock, `${process.pid}`, { flag: 'wx' });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (!isHeld()) fs.rmSync(lock, { force: true });
      await sleep(50);
    }
  }
  try {
    await work();
  } finally {
    fs.rmSync(lock, { force: true });
  }
}

function isHeld(): boolean {
  try {
    if (Date.now() - fs.statSync(lock).mtimeMs > maxBuildMs) return false;
    const pid = Number(fs.readFileSync(lock, 'utf8'));
    // Zero: the file was created, but the pid is not written yet.
    if (pid !== 0) process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const compressible = /\.(html|js|css|svg|json|txt)$/;

function compress(target: string): void {
  for (const entry of fs.readdirSync(target, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !compressible.test(file)) continue;
    const bytes = fs.readFileSync(file);
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    fs.writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
    fs.writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

async function build(digest: string): Promise<void> {
  // Overrides the caller's value: with any other React builds in its development mode.
  process.env.NODE_ENV = 'production';
  const vite = await import('vite').catch(() => undefined);
  if (!vite) throw new Error('vite is not installed');
  console.log('Building the pages …');
  // Built in a draft folder and renamed, so that a starting process never finds half of it.
  const draft = fs.mkdtempSync(join(folder, '.dist-'));
  const old = `${draft}-old`;
  try {
    const { configOf } = await import('./vite.config.ts');
    for (const [app, outDir] of [
      ['console', draft],
      ['portal', join(draft, 'portal')],
    ] as const)
      await vite.build(
        vite.mergeConfig(configOf(app), {
          configFile: false,
          logLevel: process.env.VERBOSE ? 'info' : 'warn',
          build: { outDir },
        }),
      );
    compress(draft);
    fs.writeFileSync(join(draft, digestName), digest);
    fs.chmodSync(draft, 0o755);
    if (fs.existsSync(dist)) fs.renameSync(dist, old);
    fs.renameSync(draft, dist);
  } finally {
    for (const rest of [draft, old]) fs.rmSync(rest, { recursive: true, force: true });
  }
}

try {
  const digest = digestOfSources();
  if (!isBuiltFrom(digest))
    await underLock(async () => {
      if (!isBuiltFrom(digest)) await build(digest);
    });
} catch (error) {
  // The service runs without the pages; /console and /portal then show how to build them.
  console.log(
    `The pages could not be built (${(error as Error).message}). Run npm install && npm run build.`,
  );
  process.exitCode = process.env.npm_lifecycle_event === 'prepare' ? 0 : 1;
}
