import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test as base, describe, expect } from 'vitest';
import { type AuditContext, recordChange } from '../../src/db/audit/audit.ts';
import { extendChain, readHead, startAuditChain, verifyChain } from '../../src/db/audit/audit-chain.ts';
import { type Pool, transaction } from '../../src/db/postgres/pool.ts';
import { grantRoles } from '../../src/db/roles/roles.ts';
import { readCases } from '../helpers/cases.ts';
import { kopeck } from '../helpers/cli.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase, secretKey } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';

const write = (audit: AuditContext, subject: string) => {
  const after = { text: 'line\nbreak, "quote", ж, 😀' };
  return transaction(audit.pool, tx => recordChange(tx, audit, { action: 'test.change', subject, after }));
};

async function createChain(records: number) {
  const { pool, url, audit } = await createDatabase();
  for (let nth = 1; nth <= records; nth++) await write(audit, `subject ${nth}`);
  await extendChain(pool);
  const run = (...args: string[]) =>
    kopeck({ DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder() }, 'audit', ...args);
  return { pool, audit, run };
}

/** As somebody who owns the tables could. */
async function tamper(pool: Pool, text: string) {
  const set = (how: string) =>
    pool.query(`ALTER TABLE audit ${how} TRIGGER USER; ALTER TABLE audit_chain ${how} TRIGGER USER`);
  await set('DISABLE');
  await pool.query(text);
  await set('ENABLE');
}

const faultOf = async (pool: Pool, head?: { place: number; hash: string }) =>
  (await verifyChain(pool, head ? [head] : [])).fault;

const tamperings = readCases(`
changed
  + UPDATE audit SET actor = 'somebody else' WHERE id = 3
  = { "fault": "changed", "auditId": "3" }
changed by a microsecond
  + UPDATE audit SET at = at + interval '1 microsecond' WHERE id = 3
  = { "fault": "changed", "auditId": "3" }
removed
  + DELETE FROM audit WHERE id = 4
  = { "fault": "removed", "auditId": "4" }
removed from the chain as well
  + DELETE FROM audit_chain WHERE place = 2
  = { "fault": "gap", "place": 2 }
exchanged with its hash
  + UPDATE audit_chain SET place = CASE place WHEN 2 THEN -3 ELSE -2 END WHERE place IN (2, 3);
  + UPDATE audit_chain SET place = -place WHERE place < 0
  = { "fault": "changed", "place": 2 }
exchanged
  + UPDATE audit_chain SET audit_id = CASE audit_id WHEN 2 THEN -3 ELSE -2 END WHERE audit_id IN (2, 3);
  + UPDATE audit_chain SET audit_id = -audit_id WHERE audit_id < 0
  = { "fault": "changed", "place": 2 }
removed before it had a place
  + INSERT INTO audit_unchained VALUES (77)
  = { "fault": "removed_before", "auditId": "77" }
moved far away
  + UPDATE audit_chain SET place = 9999999999 WHERE place = 2
  = { "fault": "gap", "place": 2 }
added
  + INSERT INTO audit (at, actor, action, subject) VALUES (now(), 'x', 'x', 'x')
  = { "fault": "not_chained", "auditId": "6" }`);
const test = base.extend('chain', () => createChain(1));

describe('the chain of the audit log', () => {
  test('has every record once, also when many processes extend it at once', async () => {
    const { pool, audit } = await createChain(0);
    const writing = Promise.all(Array.from({ length: 40 }, (_, nth) => write(audit, `subject ${nth}`)));
    await Promise.all([writing, ...Array.from({ length: 20 }, () => extendChain(pool))]);
    await extendChain(pool);
    const { head, fault } = await verifyChain(pool, []);
    expect({ place: head.place, fault }).toEqual({ place: 40, fault: undefined });
    expect((await pool.query('SELECT FROM audit_unchained')).rowCount).toBe(0);
  });

  test('a record that commits late comes later, and none is left out', async ({ chain: { pool, audit } }) => {
    const late = await pool.connect();
    await late.query('BEGIN');
    await late.query(
      `INSERT INTO audit (at, actor, action, subject) VALUES (now(), 'late', 'test.change', 'late')`,
    );
    await write(audit, 'after it, committed before it');
    await extendChain(pool);
    await late.query('COMMIT');
    late.release();
    await extendChain(pool);
    expect(await verifyChain(pool, [])).toMatchObject({ head: { place: 3 }, fault: undefined });
  });

  test.each(tamperings)('shows a record that was %s', async (_what, change, _undo, [expected]) => {
    const { pool, run } = await createChain(5);
    expect(await faultOf(pool)).toBeUndefined();
    await tamper(pool, change);
    expect(await faultOf(pool)).toMatchObject(JSON.parse(expected!));
    const { code, stdout } = await run('verify');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^(Record \d|Place 2)[^\n]*\nThe \d records before it are intact\.\n$/);
  });

  test('a record that is queued again does not stop the chain', async () => {
    const { pool, audit } = await createChain(3);
    await pool.query('INSERT INTO audit_unchained VALUES (2)');
    await write(audit, 'after it');
    await extendChain(pool);
    expect(await verifyChain(pool, [])).toMatchObject({ head: { place: 4 }, fault: undefined });
  });

  test('takes no lock that VACUUM waits for while nothing is queued', async ({ chain: { pool } }) => {
    // A record that is in the chain already does not count.
    await pool.query('INSERT INTO audit_unchained SELECT audit_id FROM audit_chain');
    const vacuum = await pool.connect();
    await vacuum.query('BEGIN; LOCK TABLE audit_chain IN SHARE UPDATE EXCLUSIVE MODE');
    await extendChain(pool);
    await vacuum.query('ROLLBACK');
    vacuum.release();
  });

  test('goes on whatever the roles of the service and of reports do', async ({ chain: { pool, audit } }) => {
    const [run, read] = ['run', 'read'].map(name => `chain_${name}_${randomBytes(4).toString('hex')}`);
    for (const role of [run, read]) await pool.query(`CREATE ROLE ${role}`);
    await grantRoles(pool, { run, read });
    await write(audit, 'waits for its place');
    for (const role of [run, read]) {
      const session = await pool.connect();
      await session.query(`SET ROLE ${role}`);
      for (const text of [
        "INSERT INTO audit_chain (place, audit_id, hash) VALUES (1000000000000000000, 7, decode(repeat('00', 32), 'hex'))",
        'INSERT INTO audit_unchained VALUES (77)',
        'DELETE FROM audit_unchained',
        'SELECT FROM audit_unchained FOR UPDATE',
        'SELECT FROM audit_chain FOR KEY SHARE',
        'LOCK TABLE audit_chain IN SHARE MODE',
        'LOCK TABLE audit_unchained IN SHARE MODE',
      ]) {
        await session.query('BEGIN');
        await expect(session.query(text), text).rejects.toMatchObject({ code: '42501' });
        await session.query('ROLLBACK');
      }
      // What it can lock: any number, and tables against being dropped.
      await session.query('BEGIN');
      await session.query('SELECT pg_advisory_xact_lock(718000021)');
      await session.query('LOCK TABLE audit, audit_chain, audit_unchained IN ACCESS SHARE MODE');
      await write(audit, 'while it holds these locks');
      await extendChain(pool);
      expect((await pool.query('SELECT FROM audit_unchained')).rowCount).toBe(0);
      // It has them still: the chain has not waited until the server ended an idle transaction.
      await session.query('SELECT');
      session.release(true);
    }
    expect(await verifyChain(pool, [])).toMatchObject({ head: { place: 4 }, fault: undefined });
  });

  test('a logged head shows an end that was cut off, and a chain that was written anew', async () => {
    const { pool, audit, run } = await createChain(5);
    const head = await readHead(pool);
    await write(audit, 'after the head');
    await extendChain(pool);
    expect((await run('verify', '--head', `${head.place}:${head.hash}`)).code).toBe(0);
    await tamper(pool, 'DELETE FROM audit_chain WHERE place > 4; DELETE FROM audit WHERE id > 4');
    expect(await faultOf(pool)).toBeUndefined();
    expect(await faultOf(pool, head)).toEqual({ fault: 'shorter_than_head', place: 5 });
    const cut = await run('verify', '--head', `${head.place}:${head.hash}`);
    expect(cut).toMatchObject({ code: 1 });
    expect(cut.stdout).not.toContain('intact');
    expect(cut.stdout).toContain('The chain ends before place 5 of a head that has left the database');
    await write(audit, 'in its place');
    await extendChain(pool);
    expect(await faultOf(pool)).toBeUndefined();
    expect(await faultOf(pool, head)).toEqual({ fault: 'other_than_head', place: 5 });
  });

  test('a head before the first record has only zeros: any other would fit every chain', async () => {
    const { run } = await createChain(2);
    const zeros = '0'.repeat(64);
    for (const place of ['0', '000']) {
      const refused = await run('verify', '--head', `${place}:${zeros.slice(1)}1`);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain('at place 0 it has only zeros');
      expect((await run('verify', '--head', `${place}:${zeros}`)).code).toBe(0);
    }
  });

  test('the head is logged once a day, by one of the processes', async () => {
    const { pool } = await createChain(3);
    const clock = manualClock();
    const logged: unknown[] = [];
    const note = (details: object) => logged.push(details);
    const log = { info: note, error: note };
    const start = () => [1, 2].map(() => startAuditChain({ pool, clock, log }));
    const [first, second] = start();
    await expect.poll(() => logged).toEqual([{ audit_head: await readHead(pool) }]);
    await Promise.all([first!(), second!()]);
    clock.advance(86_400_000);
    const again = start();
    await expect.poll(() => logged).toHaveLength(2);
    await Promise.all(again.map(stop => stop()));
    expect(logged).toHaveLength(2);
  });
});

const script = /```python\n(.*?)```/s.exec(
  readFileSync(new URL('../../docs/operations/audit.md', import.meta.url), 'utf8'),
)![1]!;
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('SKIPPED: the verification script of docs/operations/audit.md needs python3.');

describe.skipIf(!hasPython)('the script of the guide', () => {
  const folder = newFolder();
  const verifier = join(folder, 'verify.py');
  writeFileSync(verifier, script);
  function check(lines: string[], ...head: string[]) {
    const file = join(folder, 'copy.jsonl');
    writeFileSync(file, lines.map(line => `${line}\n`).join(''));
    const { status, stdout, stderr } = spawnSync('python3', [verifier, file, ...head], { encoding: 'utf8' });
    return `${status} ${stdout}${stderr}`;
  }

  test('accepts an export, and no other file', async () => {
    const { pool, run } = await createChain(5);
    const file = join(folder, 'audit.jsonl');
    expect((await run('export', '--to', file)).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { hash } = await readHead(pool);
    expect(execFileSync('python3', [verifier, file, `5:${hash}`], { encoding: 'utf8' })).toBe(
      `OK: 5 records, head 5:${hash}\n`,
    );
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(6);
    const third = { id: 3, actor: 'test', subject: 'subject 3' };
    expect(JSON.parse(JSON.parse(lines[2]!).record)).toMatchObject(third);
    const [one, two, three, four, five, end] = lines as [string, string, string, string, string, string];
    const changed = three.replace('subject 3', 'subject 9');
    expect(check([one, two, changed, four, five, end])).toMatch(/^1 BROKEN: line 3: the record was changed/);
    expect(check([one, three, two, four, five, end])).toMatch(/^1 BROKEN: line 2: place 3 follows place 1/);
    expect(check([one, two, four, five, end])).toMatch(/^1 BROKEN: line 3: place 4 follows place 2/);
    expect(check([one, two, three])).toMatch(/^1 BROKEN: the end is missing/);
    expect(check([one, two, three, end])).toMatch(/^1 BROKEN: the end is missing/);
    // A shorter export with a head of its own is found only with a logged head.
    const forged = JSON.stringify({ head: { place: 3, hash: JSON.parse(three).hash } });
    expect(check([one, two, three, forged])).toMatch(/^0 OK: 3 records/);
    expect(check([one, two, three, forged], `5:${hash}`)).toMatch(/^1 BROKEN: the log ends at place 3/);
    expect(check(lines, `4:${hash}`)).toMatch(/^1 BROKEN: place 4: another hash/);
    expect(check(lines, `04:${hash}`)).toMatch(/^1 BROKEN: place 4: another hash/);
    expect(check(lines, `0:${hash}`)).toMatch(/^1 BROKEN: place 0: another hash/);
    expect(check(lines, `0:${'0'.repeat(64)}`)).toMatch(/^0 OK: 5 records/);
    expect(await run('export', '--to', file)).toMatchObject({ code: 1, stdout: '' });
  });
});
