import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startService } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';
import { checkOut, npm, pack, packagesFolder } from './packed.ts';

const qrUrl = (sum: number) =>
  `https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=${sum}&cur=RUB&crc=B754`;

/** Where `.ci/run` puts it. */
const olderNode = join(import.meta.dirname, '../../node_modules/.cache/node-20/node_modules/.bin/node');

/** Starts the command in its own empty folder with a PATH without Node, pays once in each mode, and stops it. */
async function startAndPay(command: string) {
  const env = { PATH: '/usr/bin:/bin', NODE_COMPILE_CACHE: '', DATA_DIR: join(newFolder(), 'data') };
  const service = await startService({ ...env, PROCESSES: '2' }, command, []);
  try {
    const statuses: Record<string, unknown> = {};
    for (const mode of ['test', 'live']) {
      await expect.poll(service.output).toMatch(`${mode} key `);
      const [key] = new RegExp(`svc_${mode}_\\w+`).exec(service.output())!;
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
      expect((await fetch(`${service.address}/v1/ping`, { headers })).status).toBe(200);
      // The first rate may come later than the key.
      await expect
        .poll(async () => (await fetch(`${service.address}/v1/rate`, { headers })).status)
        .toBe(200);
      const answer = await fetch(`${service.address}/v1/payments`, {
        method: 'POST',
        headers: { ...headers, 'Idempotency-Key': 'first' },
        body: JSON.stringify({ qr_url: qrUrl(30_510) }),
      });
      statuses[mode] = ((await answer.json()) as { status: string }).status;
    }
    const pages = await Promise.all(
      ['/docs/guides/', '/console/'].map(async path => (await fetch(service.address + path)).status),
    );
    return { statuses, pages, exitCode: await service.stop('SIGTERM') };
  } finally {
    await service.stop('SIGKILL');
  }
}

describe('npm pack', () => {
  const project = packagesFolder();
  const isInstalled = npm(['install', '--omit=dev', pack()], project);
  const kopeck = join(project, 'node_modules/.bin/kopeck');

  test.runIf(isInstalled)('the package pays and stops, with its console and its documentation', async () => {
    expect(await startAndPay(kopeck)).toEqual({
      statuses: { test: 'succeeded', live: 'succeeded' },
      pages: [200, 200],
      exitCode: 0,
    });
  });

  test.runIf(isInstalled)('the package names no TypeScript file, which Node would refuse to run', () => {
    const dist = join(project, 'node_modules/kopeck/dist');
    const code = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
      name => /^(src|simulator|sdk)\//.test(name) && /\.[jt]s$/.test(name),
    );
    expect(code.length).toBeGreaterThan(300);
    expect(code.filter(name => name.endsWith('.ts'))).toEqual([]);
    expect(code.filter(name => /\.ts['"]/.test(readFileSync(join(dist, name), 'utf8')))).toEqual([]);
  });

  test.runIf(isInstalled)('an error of the package names the line of the source', () => {
    const file = join(project, 'node_modules/kopeck/dist/src/base/settings.js');
    const lineOf = (path: string) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .findIndex(line => line.includes('function readSettings('));
    expect(lineOf(file)).toBe(lineOf(join(import.meta.dirname, '../../src/base/settings.ts')));
  });

  test.runIf(isInstalled)(
    'the package has the runbooks that its alerts name, and calls itself kopeck',
    async () => {
      const installed = join(project, 'node_modules/kopeck');
      const rules = readFileSync(join(installed, 'ops/prometheus/rules.yaml'), 'utf8');
      const named = Array.from(rules.matchAll(/runbook: (\S+)/g), ([, path]) => path!);
      expect(named.length).toBeGreaterThan(10);
      expect(named.filter(path => !existsSync(join(installed, path)))).toEqual([]);
      const { programName } = await import(join(installed, 'dist/src/base/program-name.js'));
      expect(programName).toBe('kopeck');
    },
  );

  test.runIf(isInstalled)('no build tool is installed with it', () => {
    const found = readdirSync(join(project, 'node_modules'));
    expect(found.filter(name => ['vite', 'typescript', 'vitest', 'react', '@swc'].includes(name))).toEqual(
      [],
    );
  });

  test.runIf(isInstalled && existsSync(olderNode))('a Node that is too old is named in one line', () => {
    const main = join(project, 'node_modules/kopeck/dist/src/cli/main.js');
    const { status, stderr } = spawnSync(olderNode, [main, '--version'], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^Kopeck needs Node 24 or later, and this is v20[^\n]+: run [^\n]+\n$/),
    });
  });
});

describe('a checkout', () => {
  const folder = checkOut();
  const isInstalled = npm(['install', '--omit=dev'], folder);

  test.runIf(isInstalled)('pays after npm install --omit=dev; its console says how to build it', async () => {
    expect(await startAndPay(join(folder, 'bin/kopeck'))).toEqual({
      statuses: { test: 'succeeded', live: 'succeeded' },
      pages: [200, 503],
      exitCode: 0,
    });
  });
});
