import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { recordChange } from '../../src/db/audit/audit.ts';
import { extendChain, readHead, startAuditChain } from '../../src/db/audit/audit-chain.ts';
import { compareHeads, createHeadKeeper, openAuditHeads } from '../../src/db/audit/audit-heads.ts';
import { examined, kopeck } from '../helpers/cli.ts';
import { startConsole } from '../helpers/console.ts';
import { auditContextOf, createDatabase, createTimedDatabase, secretKey } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { createS3Server, isS3Installed } from '../helpers/s3-server.ts';

const hourMs = 3_600_000;

async function createWorld(env: Record<string, string> = { AUDIT_HEADS: newFolder() }) {
  const { pool, url, clock } = await createTimedDatabase();
  const heads = openAuditHeads(readSettings(env))!;
  const errors: object[] = [];
  const log = { error: (details: object) => errors.push(details) };
  const keepHead = createHeadKeeper({ pool, clock, log }, heads);
  const write = async (records: number) => {
    const audit = auditContextOf(pool, clock);
    for (let nth = 1; nth <= records; nth++)
      await recordChange(pool, audit, { action: 'test.change', subject: `subject ${nth}` });
    await extendChain(pool);
  };
  /** As somebody who owns the tables could: the last records never were. */
  const cut = (place: number) =>
    pool.query(
      `ALTER TABLE audit DISABLE TRIGGER USER; ALTER TABLE audit_chain DISABLE TRIGGER USER;
       DELETE FROM audit_chain WHERE place > ${place}; DELETE FROM audit WHERE id > ${place};
       ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_is_append_only; ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_is_not_truncated;
       ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_records_are_chained;
       ALTER TABLE audit_chain ENABLE ALWAYS TRIGGER audit_chain_is_append_only;
       ALTER TABLE audit_chain ENABLE ALWAYS TRIGGER audit_chain_is_not_truncated`,
    );
  const all = { DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder(), ...env };
  const run = (...args: string[]) => kopeck(all, ...args);
  const doctor = () => examined(all, 'audit log');
  return { pool, clock, heads, errors, keepHead, write, cut, run, doctor };
}

describe('heads of the audit log', () => {
  test('are kept once an hour if they have changed, whatever the database says of the last time', async () => {
    const { pool, clock, heads, keepHead, write } = await createWorld();
    await keepHead();
    expect(await heads.list()).toEqual([]);
    clock.advance(60_000);
    await write(2);
    await keepHead();
    const first = await readHead(pool);
    expect(await heads.list()).toEqual([first]);
    expect(readFileSync(join(heads.address, readdirSync(heads.address)[0]!), 'utf8')).toBe(
      `2:${first.hash}\n`,
    );
    await pool.query("UPDATE service SET audit_head_logged_at = 'infinity'");
    await write(1);
    await keepHead();
    expect(await heads.list()).toHaveLength(1);
    clock.advance(hourMs);
    await keepHead();
    expect(await heads.list()).toEqual([first, await readHead(pool)]);
    clock.advance(hourMs);
    await keepHead();
    expect(await heads.list()).toHaveLength(2);
  });

  test('are logged although somebody has set the time of the last one to the future', async () => {
    const { pool, clock, write } = await createWorld();
    await write(1);
    await pool.query("UPDATE service SET audit_head_logged_at = 'infinity'");
    const logged: object[] = [];
    const note = (details: object) => logged.push(details);
    const log = { info: note, error: note };
    const stop = startAuditChain({ pool, clock, log });
    await expect.poll(() => logged).toEqual([{ audit_head: await readHead(pool) }]);
    await stop();
  });

  test('a folder that is gone does not stop the chain, and the head is kept when it is back', async () => {
    const { pool, clock, heads, keepHead, write } = await createWorld();
    await write(1);
    rmSync(heads.address, { recursive: true });
    const failed = Promise.withResolvers<object>();
    const kept = Promise.withResolvers<void>();
    const log = { info: () => {}, error: (details: object) => failed.resolve(details) };
    const stop = startAuditChain({
      ...{ pool, clock, log },
      keepHead: () => keepHead().then(() => kept.resolve()),
    });
    expect(await failed.promise).toMatchObject({
      err: { message: expect.stringContaining('There is no folder') },
    });
    mkdirSync(heads.address);
    await clock.asleep(10_000);
    await clock.advance(60_000);
    await kept.promise;
    await stop();
    expect(await heads.list()).toEqual([await readHead(pool)]);
  });

  test('show a chain that was cut off or written anew: audit verify, doctor, the log and the console', async () => {
    const { pool, clock, heads, errors, keepHead, write, cut, run, doctor } = await createWorld();
    const { signIn } = await startConsole({ pool, clock, auditHeads: heads });
    const viewer = await signIn('viewer');
    const inConsole = async () => (await viewer.get('/audit/heads')).json;
    // To sign in is on record as well.
    await write(3);
    await keepHead();
    const left = await readHead(pool);
    expect((await run('audit', 'verify')).stdout).toBe(
      `The audit log is intact: ${left.place} records.\nIt contains all 1 heads in ${heads.address}.\nHead: ${left.place}:${left.hash}\n`,
    );
    expect(await doctor()).toBe(`ok: contains all 1 heads in ${heads.address}`);
    expect(await inConsole()).toMatchObject({ state: 'contained', kept: 1, missing: [] });
    expect(errors).toEqual([]);

    await cut(left.place - 1);
    const missing = `bad: it does not contain place ${left.place} of heads in ${heads.address}`;
    const shorter = await run('audit', 'verify');
    expect(shorter).toMatchObject({ code: 1 });
    expect(shorter.stdout).toContain(
      `The chain ends before place ${left.place} of a head that has left the database`,
    );
    expect(await doctor()).toContain(missing);
    await write(2);
    const anew = await run('audit', 'verify', '--json');
    const fault = { fault: 'other_than_head', place: left.place, kept_heads: 1 };
    expect(JSON.parse(anew.stdout)).toMatchObject({ ok: false, ...fault });
    expect(await doctor()).toContain(missing);
    const { place, hash } = left;
    expect(await inConsole()).toMatchObject({ state: 'missing', missing: [{ place, hash }] });
    clock.advance(hourMs);
    await keepHead();
    expect(errors).toEqual([{ audit_heads: [left] }]);
  });

  test('that no longer leave are a warning', async () => {
    const { heads, write, doctor } = await createWorld();
    await write(1);
    expect(await doctor()).toBe(
      `warn: no head was kept in ${heads.address} since place 0: see the log of a process with the role worker`,
    );
  });

  test('other files beside them do not matter', async () => {
    const { pool, heads, keepHead, write } = await createWorld();
    await write(1);
    writeFileSync(join(heads.address, 'README'), 'Do not delete.');
    await keepHead();
    const kept = await heads.list();
    expect(kept).toHaveLength(1);
    expect(await compareHeads(pool, kept)).toMatchObject({ missing: [], uncoveredSince: undefined });
  });

  test('without AUDIT_HEADS there are none to compare with', async () => {
    const { pool } = await createDatabase();
    expect(openAuditHeads(readSettings({}))).toBeUndefined();
    const { signIn } = await startConsole({ pool });
    const heads = (await (await signIn('viewer')).get('/audit/heads')).json;
    expect(heads).toEqual({ state: 'off', kept: 0, missing: [] });
  });

  test.runIf(isS3Installed)('may be in a bucket', async () => {
    const s3 = await createS3Server();
    const env = { ...s3.env, AUDIT_HEADS: 's3://backups/audit/heads' };
    const { pool, heads, keepHead, write, cut, doctor } = await createWorld(env);
    await write(2);
    await keepHead();
    expect(await heads.list()).toEqual([await readHead(pool)]);
    await heads.keep(await readHead(pool));
    expect(await doctor()).toBe('ok: contains all 1 heads in s3://backups/audit/heads');
    await cut(1);
    expect(await doctor()).toContain('bad: it does not contain place 2 of heads');
  });
});
