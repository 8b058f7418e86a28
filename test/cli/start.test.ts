import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { openDatabase } from '../../src/db/database.ts';
import { refuseSimulatorInProduction } from '../../src/runtime/simulator.ts';
import { kopeck, kopeckProcess, type Service, startHere, startService } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { isRunning, serverPid } from '../helpers/embedded-postgres.ts';
import { newFolder, usedFolder } from '../helpers/folders.ts';
import { processEnv } from '../helpers/process-env.ts';
import { startTcpReceiver } from '../helpers/tcp-receivers.ts';
import { withoutWaiting } from '../helpers/waiting-line.ts';

const { url } = await createDatabase();
const secretKey = { SECRET_KEY: 'a secret key for the tests, long enough' };

const services: Service[] = [];
afterEach(async () => {
  await Promise.all(services.splice(0).map(service => service.stop()));
});

async function start(env: Record<string, string>): Promise<Service> {
  const service = await startService(env);
  services.push(service);
  return service;
}

const healthOf = async ({ address }: Service, path: string) => (await fetch(`${address}${path}`)).json();
/** It says 503 while a statement takes longer than 0.8 s, as on a slow machine. */
const expectReady = (service: Service) =>
  expect.poll(() => healthOf(service, '/readyz')).toEqual({ ok: true });

describe('kopeck start', () => {
  test('starts everything on an empty folder; commands work during and after', async () => {
    const env = { DATA_DIR: join(newFolder(), 'data') };
    const service = await start(env);
    const created = await kopeckProcess(env, 'partner', 'create', '--name', 'During', '--json');
    expect(created.code).toBe(0);
    expect((await kopeckProcess(env, 'partner', 'create')).code).toBe(2);
    expect(await healthOf(service, '/healthz')).toEqual({ ok: true });
    await expectReady(service);
    expect((await fetch(`${service.address}/elsewhere`)).status).toBe(404);
    const { partner_id } = JSON.parse(created.stdout);
    expect((await kopeck(env, `key create ${partner_id} --mode test`)).code).toBe(0);
    await expectReady(service);

    const pid = serverPid(env.DATA_DIR);
    expect(await service.stop('SIGTERM')).toBe(0);
    expect(isRunning(pid)).toBe(false);
    expect((await kopeck(env, 'ledger verify')).stdout).toContain('The ledger is consistent');
    const paths = ['', ...fs.readdirSync(env.DATA_DIR)].map(name => join(env.DATA_DIR, name));
    // The server of root has no rights of root: its group may pass through the folder, and reads nothing else in it.
    expect(paths.filter(path => (fs.statSync(path).mode & 0o067) !== 0)).toEqual([]);
  });

  test('in production no simulator is started', async () => {
    const dataDir = join(newFolder(), 'data');
    const env = { ...secretKey, NODE_ENV: 'production', DATA_DIR: dataDir };
    const lineFor = (missing: string) =>
      `${missing} must be set in production: the gateway simulator is for development only.`;
    await expect(startHere(env)).rejects.toThrow(lineFor('GATEWAY_URL and RATE_SOURCES'));
    expect(fs.existsSync(dataDir)).toBe(false);
    const refuse = (settings: object) => refuseSimulatorInProduction(readSettings({ ...env, ...settings }));
    expect(() => refuse({ GATEWAY_URL: 'http://127.0.0.1:1' })).toThrow(lineFor('RATE_SOURCES'));
    expect(() => refuse({ RATE_SOURCES: 'fixed:92.50' })).toThrow(lineFor('GATEWAY_URL'));
  });

  test('a command whose output is closed (EPIPE) leaves no database running', async () => {
    const dataDir = usedFolder();
    const program = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.js');
    const line = `"${process.execPath}" "${program}" partner list --json | true`;
    const env = { ...processEnv, DATA_DIR: dataDir };
    const { stderr } = spawnSync('sh', ['-c', line], { env, encoding: 'utf8' });
    expect(withoutWaiting(stderr)).toBe('');
    expect(fs.existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
  });

  test('after kill -9 two services on the same folder stop independently; SIGHUP stops the last with the database', async () => {
    const env = { DATA_DIR: usedFolder() };
    const killed = await startService(env);
    expect(await killed.stop('SIGKILL')).toBeNull();
    const [first, second] = await Promise.all([start(env), start(env)]);
    const bankOf = ({ output }: Service) => /gateway +(http:\S+)/.exec(output())?.[1];
    await expect.poll(() => bankOf(second!)).toBeDefined();
    const bank = bankOf(second!)!;
    expect(await first!.stop('SIGINT')).toBe(0);
    await expectReady(second!);
    // The simulator keeps running for the remaining service, whichever of them started it.
    const rate = () =>
      fetch(`${bank}/rate`).then(
        response => response.status,
        () => 'not running',
      );
    await expect.poll(rate).toBe(200);
    const pid = serverPid(env.DATA_DIR);
    expect(await second!.stop('SIGHUP')).toBe(0);
    expect(isRunning(pid)).toBe(false);
  });

  test('a simulator that cannot start, or a port in use, is reported in one line', async () => {
    const dataDir = newFolder();
    fs.mkdirSync(join(dataDir, 'simulator'));
    fs.writeFileSync(join(dataDir, 'simulator', 'journal.jsonl'), 'nonsense\n{}\n');
    const env = { DATABASE_URL: url, ...secretKey };
    const lineOf = (more: Record<string, string>) =>
      startHere({ ...env, ...more }).then(String, ({ message }) => message);
    expect(await lineOf({ DATA_DIR: dataDir })).toMatch(
      /^The gateway simulator did not start in \S+: [^\n]+$/,
    );
    const { port } = await startTcpReceiver();
    const bank = { GATEWAY_URL: 'http://127.0.0.1:1', RATE_SOURCES: 'fixed:92.50' };
    expect(await lineOf({ ...bank, PORT: `${port}`, DATA_DIR: newFolder() })).toBe(
      `PORT ${port} on 127.0.0.1 is in use: stop the program that has it, or set PORT to another.`,
    );
  });

  /** What a command says that is refused in one line. */
  const refusal = async (env: Record<string, string>) => {
    const { code, stderr } = await kopeck(env, 'partner list');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^[^\n]+\n$/)]);
    return stderr;
  };

  test('an invalid key file and a changed SECRET_KEY are reported in one line', async () => {
    const dataDir = newFolder();
    fs.writeFileSync(join(dataDir, 'secret.key'), '');
    expect(await refusal({ DATABASE_URL: url, DATA_DIR: dataDir })).toContain('secret.key holds no key');
    await kopeck({ DATABASE_URL: url, ...secretKey }, 'partner list');
    expect(await refusal({ DATABASE_URL: url, SECRET_KEY: 'x'.repeat(40) })).toContain(
      'SECRET_KEY is not the one this database is used with',
    );
  });

  test('with a bad PORT is one line that names it', async () => {
    expect(await kopeckProcess({ PORT: 'eighty' }, 'start')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^PORT must [^\n]*\n$/),
    });
  });

  test('a DATABASE_URL that does not answer is reported in one line without its password', async () => {
    for (const host of ['127.0.0.1:1', 'localhost:1']) {
      const line = await refusal({ DATABASE_URL: `postgresql://me:hunter2@${host}/kopeck`, ...secretKey });
      expect(line).toMatch(
        /^The database at \S+:1\/kopeck does not answer \(ECONNREFUSED\): check DATABASE_URL/,
      );
      expect(line).not.toContain('hunter2');
    }
    const { port } = await startTcpReceiver();
    const line = await refusal({ DATABASE_URL: `postgresql://me@127.0.0.1:${port}/kopeck`, ...secretKey });
    expect(line).toMatch(/does not answer \([^\n]*timeout/);
    const missing = new URL(url);
    missing.pathname = '/not_there';
    expect(await refusal({ DATABASE_URL: missing.href })).toMatch(
      /^The database .*not_there.* correct DATABASE_URL/,
    );
  });
});

test.runIf(process.getuid!() === 0)(
  'a full disk refuses the credit and leaves the ledger consistent',
  async context => {
    const disk = newFolder();
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=120m', 'none', disk]).status === 0;
    if (!mounted) context.skip('this machine does not allow mounting a small disk');
    try {
      const env = { DATA_DIR: join(disk, 'data'), ...secretKey };
      await (await openDatabase(readSettings(env), () => {}, 'create')).close();
      const { partner_id } = JSON.parse((await kopeck(env, 'partner create --name A --json')).stdout);
      const { bavail, bsize } = fs.statfsSync(disk);
      fs.writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize));
      const credit = `balance credit ${partner_id} --mode live --usdt 5 --reference x --json`;
      const refused = await kopeck(env, credit);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(withoutWaiting(refused.stderr)).toMatch(/^[^\n]*full[^\n]*\n$/);
      fs.rmSync(join(disk, 'filler'));
      expect(JSON.parse((await kopeck(env, credit)).stdout)).toMatchObject({
        already_credited: false,
        balance_usdt: '5.000000',
      });
      expect((await kopeck(env, 'ledger verify')).code).toBe(0);
    } finally {
      spawnSync('umount', [disk]);
    }
  },
);
