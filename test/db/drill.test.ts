import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { kopeck } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';
import { createBackupWorld } from './backup-world.ts';

const slow = { timeout: 240_000 };

const world = await createBackupWorld();

test(
  'drill backs up, restores, verifies and opens in a scratch folder, and measures each step',
  slow,
  async () => {
    await world.pay();
    // Of its own: other tests rehearse at the same time. PostgreSQL, which may run as another user, must reach it.
    const scratch = newFolder();
    fs.chmodSync(scratch, 0o755);
    vi.stubEnv('TMPDIR', scratch);
    const { ok, steps, total_ms } = await world.json('drill');
    expect(ok).toBe(true);
    expect(steps.map(({ name }: { name: string }) => name)).toEqual([
      'backup',
      'check',
      'restore',
      'start',
      'verify',
      'open',
    ]);
    expect(steps.at(-2).result).toMatch(/^\d+ entries, \d+ invariants hold$/);
    expect(steps.at(-1).result).toContain('payments are accepted');
    expect(total_ms).toBeGreaterThan(0);
    expect(fs.readdirSync(scratch)).toEqual([]);
    expect(fs.existsSync(join(world.backups, 'base'))).toBe(false);
  },
);

test('backup verify names what is wrong and exits with 1', slow, async () => {
  const { id } = await world.json('backup');
  const file = join(world.backups, 'base', id, 'data', 'PG_VERSION');
  fs.appendFileSync(file, '!');
  const bad = await world.run('backup', 'verify', id);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toContain('data/PG_VERSION is damaged');
  expect((await world.run('backup', 'verify', '20200101-000000-0000')).stdout).toContain(
    'There is no complete backup',
  );
});

test('backup verify finds broken books', slow, async () => {
  await world.pool.query('ALTER TABLE accounts DISABLE TRIGGER ALL');
  await world.pool.query(
    `UPDATE accounts SET available = available + 1, topup = topup - 1 WHERE ctid = (SELECT min(ctid) FROM accounts)`,
  );
  await world.json('backup');
  const { code, stdout } = await world.run('backup', 'verify', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout).steps.at(-1)).toMatchObject({
    name: 'verify',
    ok: false,
    result: expect.stringContaining('entries add up to the balances'),
  });
});

test('a drill without a database or a backup is one line', slow, async () => {
  const { code, stdout } = await kopeck({}, 'drill', '--from', join(tmpdir(), 'no such folder'));
  expect(code).toBe(1);
  expect(stdout).toContain('There is no complete backup');
});
