import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { joinIncarnation } from '../../src/db/history/join.ts';
import { kopeck } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { secretKey, setRate } from '../helpers/partners.ts';

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
    expect(checks.map(({ check }) => check)).toEqual([
      'settings',
      'data folder',
      'proxy',
      'certificate',
      'database',
      'version',
      'privileges',
      'schema',
      'audit log',
      'secret key',
      'commits',
      'standbys',
      'WAL archive',
      'history',
      'unmatched orders',
      'connections',
      'clock',
      'alarms',
      'archive',
      'gateway',
      'rate',
      'rate sources',
      'bot',
    ]);
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
