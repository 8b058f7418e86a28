import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { afterFile } from '../helpers/after-file.ts';
import { startService } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';

const root = join(import.meta.dirname, '..', '..');

/** Errors of npm that say: no registry is reached. */
const noRegistry = /ENOTFOUND|ENOTCACHED|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/;

/** Runs npm; false, with a clear notice, if it needs a registry and reaches none. */
export function npm(args: string[], cwd: string): boolean {
  const path = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  const { status, stdout, stderr } = spawnSync(
    'npm',
    [...args, '--no-audit', '--no-fund', '--prefer-offline'],
    {
      cwd,
      env: { ...process.env, PATH: path },
      encoding: 'utf8',
    },
  );
  if (status === 0) return true;
  if (!noRegistry.test(stderr)) throw new Error(`npm ${args.join(' ')}\n${stdout}${stderr}`);
  console.warn('\n!!! npm reaches no registry: the tests of the installation are SKIPPED.\n');
  return false;
}

/** A folder for hundreds of megabytes of packages. On a busy machine they take longer to remove than the clean-up may. */
export function packagesFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kopeck-packages-'));
  afterFile(() => spawn('rm', ['-rf', folder], { detached: true, stdio: 'ignore' }).unref());
  return folder;
}

/** The tarball of the service as it would be published. */
export function pack(): string {
  const folder = newFolder();
  npm(['pack', '--pack-destination', folder], root);
  return join(folder, readdirSync(folder).find(name => name.endsWith('.tgz'))!);
}

/** The files of the repository as they are now, in a folder without packages. */
export function checkOut(): string {
  const folder = packagesFolder();
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const name of listed.split('\n').filter(Boolean)) {
    mkdirSync(join(folder, dirname(name)), { recursive: true });
    copyFileSync(join(root, name), join(folder, name));
  }
  return folder;
}

const qrUrl = (sum: number) =>
  `https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=${sum}&cur=RUB&crc=B754`;

/** Starts the command in its own empty folder with a PATH without Node, pays once in each mode, and stops it. */
export async function startAndPay(command: string) {
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
      ['/docs/guides/', '/docs/ru/', '/console/'].map(
        async path => (await fetch(service.address + path)).status,
      ),
    );
    return { statuses, pages, exitCode: await service.stop('SIGTERM') };
  } finally {
    await service.stop('SIGKILL');
  }
}
