import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { examineCertificate } from '../../src/cli/doctor/certificate.ts';
import { joinIncarnation } from '../../src/db/history/join.ts';
import { createAuthority, type Issued, issueSelfSigned } from '../helpers/certificates.ts';
import { examined, kopeck } from '../helpers/cli.ts';
import { createDatabase, secretKey, setRate } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { startLocalServer } from '../helpers/local-server.ts';
import { startTlsReceiver } from '../helpers/tcp-receivers.ts';

const { pool, url } = await createDatabase();
const env = { DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder() };
await joinIncarnation({ pool, clock: systemClock }, { place: undefined, isRestored: false });

const doctor = async (more: Record<string, string> = {}) => {
  const { code, stdout } = await kopeck({ ...env, ...more }, 'doctor --json');
  const { ok, checks } = JSON.parse(stdout) as {
    ok: boolean;
    checks: { check: string; state: string; detail: string }[];
  };
  const notOk = checks.filter(({ state }) => state !== 'ok').map(({ check, state }) => `${check} ${state}`);
  return { code, ok, notOk, checks };
};

describe('kopeck doctor', () => {
  test('finds everything in order', async () => {
    await setRate(pool);
    const { code, ok, notOk, checks } = await doctor();
    // The tests use the superuser of their server.
    expect({ code, ok, notOk }).toEqual({ code: 0, ok: true, notOk: ['privileges warn'] });
    expect(checks.map(({ check }) => check).join(', ')).toBe(
      'settings, data folder, proxy, certificate, database, version, privileges, schema, audit log, secret key, ' +
        'commits, standbys, WAL archive, history, unmatched orders, connections, clock, alarms, archive, ' +
        'gateway, rate, rate sources, bot',
    );
  });

  test('prints a table', async () => {
    const { stdout } = await kopeck(env, 'doctor');
    expect(stdout).toMatch(/^check +state +result\n/);
    expect(stdout).toMatch(/\nrate +ok +\d+ s old\n/);
  });

  test('names a setting that cannot be read, and looks no further', async () => {
    const { code, checks } = await doctor({ PORT: 'x' });
    expect(code).toBe(1);
    expect(checks).toEqual([
      { check: 'settings', state: 'bad', detail: expect.stringMatching(/^PORT must be a port/) },
    ]);
  });

  test('says that the database does not answer, without its password', async () => {
    const { code, checks } = await doctor({ DATABASE_URL: 'postgresql://me:hunter2@127.0.0.1:1/kopeck' });
    expect(code).toBe(1);
    expect(checks.at(-1)).toMatchObject({ check: 'database', state: 'bad' });
    expect(checks.at(-1)!.detail).toContain('does not answer (ECONNREFUSED)');
    expect(JSON.stringify(checks)).not.toContain('hunter2');
  });

  test('goes on after a check that failed', async () => {
    const { code, notOk } = await doctor({ SECRET_KEY: 'x'.repeat(40), GATEWAY_URL: 'http://127.0.0.1:1' });
    expect({ code, notOk }).toEqual({ code: 1, notOk: ['privileges warn', 'secret key bad', 'gateway bad'] });
  });

  test('finds a rate that is too old, an open alarm, and a history that is not complete', async () => {
    await pool.query(
      "INSERT INTO alarms (kind, subject, detail, first_at, last_at) VALUES ('payment_overdue', 'x', 'x', now(), now())",
    );
    await joinIncarnation({ pool, clock: systemClock }, { place: undefined, isRestored: true });
    await setRate(pool, { ...systemClock, nowMs: () => Date.now() - 60_000 });
    const { code, notOk } = await doctor({ RATE_MAX_AGE_SEC: '30' });
    expect({ code, notOk }).toEqual({
      code: 1,
      notOk: ['privileges warn', 'history bad', 'alarms warn', 'rate bad'],
    });
  });
});

/** With a folder of its own. */
const finding = (check: string, more: Record<string, string>) =>
  examined({ ...env, DATA_DIR: newFolder(), ...more }, check);

describe('the certificate of PUBLIC_URL', () => {
  const authority = createAuthority();

  async function examine(certificate: Issued, ca?: string): Promise<string> {
    const { port } = await startTlsReceiver(certificate);
    const { state, detail } = await examineCertificate(`https://127.0.0.1:${port}`, ca);
    return `${state}: ${detail}`;
  }
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000 + 3_600_000);

  test.each([
    [20, /^ok: ends in 20 days$/],
    [14, /^ok: ends in 14 days$/],
    [13, /^warn: ends in 13 days: renew it on the proxy that serves 127\.0\.0\.1$/],
    [3, /^warn: ends in 3 days/],
    [2, /^bad: ends in 2 days: renew it .* now$/],
    [0, /^bad: ends in 0 days/],
    [-2, /^bad: ended .*: renew it/],
  ])('with %i days left', async (days, expected) => {
    expect(await examine(authority.issue(['127.0.0.1'], inDays(days)), authority.ca)).toMatch(expected);
  });

  test('of another name, self-signed, or of an unknown authority is not valid', async () => {
    expect(await examine(authority.issue(['192.0.2.1']), authority.ca)).toMatch(
      /^bad: is not valid for 127\.0\.0\.1 \(ERR_TLS_CERT_ALTNAME_INVALID\)/,
    );
    expect(await examine(issueSelfSigned(['127.0.0.1']))).toMatch(/^bad: is not valid .*SELF_SIGNED/);
    expect(await examine(authority.issue(['127.0.0.1']))).toMatch(/^bad: is not valid .*UNABLE_TO_VERIFY/);
  });

  test('that cannot be reached is a warning; without TLS there is none', async () => {
    expect(await finding('certificate', { PUBLIC_URL: 'https://127.0.0.1:1' })).toMatch(
      /^warn: https:\/\/127\.0\.0\.1:1 cannot be reached from here \(ECONNREFUSED\)/,
    );
    expect(await finding('certificate', {})).toBe('ok: PUBLIC_URL has none');
  });
});

test.each([
  [{ PUBLIC_URL: 'https://127.0.0.1:1' }, /^warn: PUBLIC_URL is served by a proxy that is not trusted/],
  [{ TRUST_PROXY: '0.0.0.0/0' }, /^warn: TRUST_PROXY trusts every address/],
  [{ PUBLIC_URL: 'https://127.0.0.1:1', TRUST_PROXY: '10.0.0.7' }, /^ok: 10\.0\.0\.7 trusted$/],
  [{}, /^ok: none$/],
])('the proxy with %o', async (env, expected) => {
  expect(await finding('proxy', env as Record<string, string>)).toMatch(expected);
});

describe('the data folder', () => {
  /** A disk of its own, where the tests may mount one. */
  function mount(options: string): string | undefined {
    const disk = newFolder();
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'none', disk]).status !== 0) {
      console.warn('\n!!! Nothing can be mounted here: a test of a full or read-only disk is SKIPPED.\n');
      return undefined;
    }
    onTestFinished(() => void spawnSync('umount', [disk]));
    return disk;
  }

  const found = (folder: string) => finding('data folder', { DATA_DIR: folder });

  test('on a read-only disk', async context => {
    const disk = mount('ro,size=1m');
    if (!disk) return context.skip();
    expect(await found(disk)).toBe(
      `bad: ${disk} cannot be written to (EROFS): mount its disk for writing, or set DATA_DIR to another folder`,
    );
  });

  test('on a small disk and on a full one', async context => {
    const disk = mount('size=1m,nr_inodes=10');
    if (!disk) return context.skip();
    expect(await found(disk)).toMatch(/^bad: 0\.0 GiB are free in .*: free some space$/);
    for (let nth = 0; nth < 9; nth++) fs.writeFileSync(join(disk, `${nth}`), '');
    expect(await found(disk)).toBe(`bad: the disk of ${disk} is full: free some space`);
  });

  test('with a key that others can read, and one that does not exist yet', async () => {
    const folder = newFolder();
    expect(await found(join(folder, 'not', 'yet'))).toMatch(/^ok: .* are free in/);
    fs.writeFileSync(join(folder, 'secret.key'), secretKey, { mode: 0o644 });
    expect(await found(folder)).toMatch(/^warn: .*secret\.key can be read .*chmod 600/);
  });
});

const server = await startLocalServer();

test('rate sources: some that fail are a warning, all that fail are bad', async () => {
  expect(await finding('rate sources', { RATE_SOURCES: 'fixed:92.50' })).toBe('ok: fixed:92.5000 respond');
  expect(await finding('rate sources', { RATE_SOURCES: 'fixed:92.50,http://127.0.0.1:1' })).toMatch(
    /^warn: no quote from .*: check RATE_SOURCES/,
  );
  server.answerWith({}, 500);
  const failing = { RATE_SOURCES: `${server.url},http://127.0.0.1:1`, RATE_MIN: '1', RATE_MAX: '900' };
  expect(await finding('rate sources', failing)).toMatch(/^bad: no quote from .*, .*: check RATE_SOURCES/);
});

test('the bot: its token is accepted, refused or not asked for, and never shown', async () => {
  const token = `1:${'x'.repeat(35)}`;
  const ask = async (root: string) => {
    const found = await finding('bot', { TELEGRAM_BOT_TOKEN: token, TELEGRAM_API_ROOT: root });
    expect(found).not.toContain(token);
    return found;
  };
  server.answerWith({ ok: true });
  expect(await ask(server.url)).toBe('ok: Telegram accepts the token');
  server.answerWith({ ok: false }, 401);
  expect(await ask(server.url)).toMatch(/^bad: Telegram refuses the token \(401\)/);
  expect(await ask('http://127.0.0.1:1')).toMatch(/^warn: Telegram does not respond/);
  expect(await finding('bot', {})).toBe('ok: off');
});
