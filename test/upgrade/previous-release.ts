import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { kopeckProcess, runProgram, startService } from '../helpers/cli.ts';
import { createDatabase, secretKey } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { startSimulator } from '../helpers/simulator.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';

const root = join(import.meta.dirname, '..', '..');

/** The last version before releases began, whose databases are brought over. */
export const version01 = 'eb499973';

/** The commit of the previous release, in a file since tags may be missing in a clone; before the second release the one in use. */
export const previousRelease =
  readFileSync(join(import.meta.dirname, 'previous-release'), 'utf8').trim() || 'HEAD';

/** Whether the clone has the commit; a notice says so if it has not. */
export function hasCommit(commit: string): boolean {
  const found = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).status === 0;
  if (!found)
    console.warn(
      `\n  THE UPGRADE IS NOT TESTED: this clone does not have the commit ${commit}.\n` +
        '  Fetch the whole history: git fetch --unshallow\n',
    );
  return found;
}

export const migrationsOf = (commit: string) =>
  execFileSync('git', ['ls-tree', '--name-only', commit, 'database/migrations/'], {
    cwd: root,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .map(path => path.split('/').at(-1)!);

/** Unpacks the version and returns its program. It runs with the packages of this one. */
export function unpack(commit: string): string {
  const folder = newFolder();
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'src', 'cli', 'main.js');
}

/** A service of that version on a database of its own, a bank side, a partner with money, a webhook and a key of each mode. */
export async function startVersion(
  commit: string,
  settings: Record<string, string>,
  ofLiveKey: string[] = [],
) {
  const { pool, url } = await createDatabase({ migrated: false });
  const simulator = await startSimulator({ GATEWAY_TOKEN: 'token' });
  const receiver = await startReceiver();
  const env: Record<string, string> = {
    ...{ DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder(), RATE_SOURCES: 'fixed:92.50' },
    ...{ GATEWAY_URL: simulator.address, GATEWAY_TOKEN: 'token', ROLES: 'api,worker', ...settings },
  };
  const program = unpack(commit);
  const resultOf = async (running: ReturnType<typeof runProgram>, args: string[]) => {
    const { code, stdout, stderr } = await running;
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return JSON.parse(stdout);
  };
  const runOld = (...args: string[]) => resultOf(runProgram(program, env, [...args, '--json']), args);
  const old = await startService(env, program);
  const { partner_id: partnerId } = await runOld('partner', 'create', '--name', 'Shop');
  const limits = '--concurrent 100 --create-rps 10000 --create-burst 10000 --other-rps 1000 --daily-rub none';
  await runOld('partner', 'limits', partnerId, ...limits.split(' '));
  await runOld('balance', 'credit', partnerId, '--mode', 'live', '--usdt', '100000', '--reference', 'r1');
  await runOld('webhook', 'set', partnerId, '--url', receiver.url);
  const keys = {
    live: (await runOld('key', 'create', partnerId, '--mode', 'live', ...ofLiveKey)).key as string,
    test: (await runOld('key', 'create', partnerId, '--mode', 'test')).key as string,
  };
  /** A command of this version. */
  const run = (...args: string[]) => resultOf(kopeckProcess(env, ...args, '--json'), args);
  return { pool, simulator, receiver, env, runOld, run, old, partnerId, keys };
}
