import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createIncarnationGuard } from '../../src/db/history/guard.ts';
import { type Identity, isOlderHistory, readIdentity } from '../../src/db/history/identity.ts';
import { joinIncarnation } from '../../src/db/history/join.ts';
import { createNewestHistory } from '../../src/db/history/newest-history.ts';
import { isDatabaseUnreachable } from '../../src/db/postgres/database-errors.ts';
import { tryConnection } from '../../src/db/postgres/dedicated-connection.ts';
import { openPool, type Pool } from '../../src/db/postgres/pool.ts';
import { createDatabase, createTimedDatabase } from '../helpers/database.ts';
import { openDatabaseHost } from '../helpers/database-host.ts';
import { newFolder, usedFolder } from '../helpers/folders.ts';
import { joinHistory as join, poolThrough, twoHistories } from '../helpers/histories.ts';

const open = (dataDir: string, isRestored = false) =>
  openDatabase(readSettings({ DATA_DIR: dataDir }), () => {}, 'create', { isRestored });

/** Opens the database for a moment and returns its newest incarnation. */
async function visit(dataDir: string, isRestored = false) {
  const database = await open(dataDir, isRestored);
  return newest(database.pool).finally(database.close);
}

const newestIncarnation = `SELECT number, cause, timeline, opened_at IS NOT NULL AS "isOpen" FROM incarnations ORDER BY number DESC LIMIT 1`;
const newest = async (pool: Pool) => (await pool.query(newestIncarnation)).rows[0];

test('a restored backup from before the first incarnation is compared with the bank side too', async () => {
  const { pool } = await createDatabase();
  await join(pool, true);
  expect(await newest(pool)).toMatchObject({ number: 1, cause: 'restore', isOpen: false });
});

test('two copies of a database that had just jumped give out different numbers', async () => {
  const { pool, clock } = await createTimedDatabase();
  async function jumpFrom(eventId: bigint): Promise<bigint> {
    await pool.query("SELECT setval(pg_get_serial_sequence('events', 'id'), $1)", [eventId]);
    await joinIncarnation({ pool, clock }, { place: undefined, isRestored: true });
    const { rows } = await pool.query<{ next: bigint }>(
      'SELECT next_event_id AS next FROM incarnations ORDER BY number DESC LIMIT 1',
    );
    return rows[0]!.next;
  }

  const last = await jumpFrom(1n);
  clock.advance(10_000);
  const first = await jumpFrom(last);
  clock.advance(20_000);
  const second = await jumpFrom(last);
  expect(first - last).toBe(10_000n * 100n);
  expect(second - first).toBe(20_000n * 100n);
  expect(await jumpFrom(second * 10n)).toBeGreaterThan(second * 10n + 900_000n);
});

describe('an embedded database', () => {
  const dataDir = usedFolder();
  const server = path.join(dataDir, 'postgres');

  test('is open at its first start, and at every later one', async () => {
    expect(await visit(dataDir)).toEqual({ number: 1, cause: 'first_start', timeline: 1, isOpen: true });
    expect(await visit(dataDir)).toMatchObject({ number: 1 });
  });

  test('that was moved is the same, and a copy beside it is not', async () => {
    const copy = path.join(newFolder(), 'copy');
    execFileSync('cp', ['-a', dataDir, copy]);
    expect(await visit(copy)).toMatchObject({ number: 2, cause: 'copy', isOpen: false });

    fs.renameSync(dataDir, `${dataDir}-moved`);
    expect(await visit(`${dataDir}-moved`)).toMatchObject({ number: 1, isOpen: true });
    fs.renameSync(`${dataDir}-moved`, dataDir);
  });

  test('that was recovered from its log has another timeline', async () => {
    fs.appendFileSync(path.join(server, 'postgresql.auto.conf'), "restore_command = 'false'\n");
    const { uid, gid } = fs.statSync(server);
    fs.writeFileSync(path.join(server, 'recovery.signal'), '');
    fs.chownSync(path.join(server, 'recovery.signal'), uid, gid);
    expect(await visit(dataDir)).toEqual({ number: 2, cause: 'promotion', timeline: 2, isOpen: false });
    expect(await visit(dataDir)).toMatchObject({ number: 2, isOpen: false });
  });

  test('is restored when its operator says so', async () => {
    expect(await visit(dataDir, true)).toMatchObject({ number: 3, cause: 'restore', isOpen: false });
  });
});

describe('a process', () => {
  const connectionOf = ({ options: { host, port, user, database } }: Pool) =>
    ({ host, port, user, database }) as { host: string };
  test('of several that find another timeline at once: one begins an incarnation, all join it', async () => {
    const { pool } = await createDatabase();
    await join(pool);
    await pool.query('UPDATE incarnations SET timeline = 99');
    const joined = await Promise.all(Array.from({ length: 8 }, () => join(pool)));
    expect(joined.map(({ incarnation }) => incarnation?.number)).toEqual(Array(8).fill(2));
    expect(await newest(pool)).toMatchObject({ number: 2, cause: 'promotion', isOpen: false });
  });

  test('that sees another incarnation uses no connection any more, old or new', async () => {
    const { pool: other } = await createDatabase();
    await join(other);
    const guard = createIncarnationGuard(createNewestHistory());
    const { check, isCurrent } = guard;
    const pool = openPool({ ...connectionOf(other), check, isCurrent }, 2);
    guard.stayWith(await readIdentity(pool));
    const old = await pool.connect();
    old.release();

    await join(other, true);
    // The old session still works: nothing has shown it the change.
    await pool.query('SELECT 1');
    const [, second] = await Promise.allSettled([pool.query('SELECT pg_sleep(0.2)'), pool.query('SELECT 1')]);
    expect(second).toMatchObject({ status: 'rejected' });
    expect(isDatabaseUnreachable((second as PromiseRejectedResult).reason)).toBe(true);
    expect(await guard.changed).toContain('incarnation 2');
    await expect(pool.query('SELECT 1')).rejects.toSatisfy(isDatabaseUnreachable);
    await expect(pool.connect()).rejects.toSatisfy(isDatabaseUnreachable);
    await pool.end();
  });

  test('that is led to an older history waits for its own, and works in it meanwhile', async () => {
    const { older, newer } = await twoHistories();
    const host = await openDatabaseHost(newer.options.database!);
    const { pool, guard } = await poolThrough(host, 1);

    host.leadTo(older.options.database!);
    await expect(tryConnection(pool, 'history check', {})).rejects.toThrow('older history');
    expect(guard.isCurrent()).toBe(true);
    expect((await readIdentity(pool)).incarnation?.number).toBe(2);
    host.leadTo(newer.options.database!);
    await tryConnection(pool, 'history check', {});
    await pool.end();
  });

  test('that starts does not join a history older than the newest that its node has seen', async () => {
    const { pool, url } = await createDatabase();
    await join(pool);
    const found = await readIdentity(pool);
    const history = createNewestHistory({ newest: { ...found, timeline: found.timeline! + 1 }, left: [] });
    history.see(found);
    const settings = readSettings({ DATABASE_URL: url });
    await expect(openDatabase(settings, () => {}, 'refuse', { history })).rejects.toThrow('older history');
    const known = createNewestHistory({ newest: found, left: [] });
    await (await openDatabase(settings, () => {}, 'refuse', { history: known })).close();
  });
});

test('a node does not return to a history that it has left, of another server or of the same number', () => {
  const identity = (systemIdentifier: string, token: string): Identity => ({
    ...{ systemIdentifier, timeline: 2, incarnation: { number: 2, token } },
  });
  const [first, sameNumber, otherServer] = [identity('1', 'a'), identity('1', 'b'), identity('2', 'c')];
  const newer: Identity[] = [];
  const history = createNewestHistory(undefined, one => newer.push(one));
  for (const one of [first, sameNumber, otherServer]) {
    expect(history.objectionTo(one)).toBeUndefined();
    history.see(one);
  }
  history.see(first);
  history.see(otherServer);
  expect(newer).toEqual([first, sameNumber, otherServer]);
  for (const one of [first, sameNumber]) expect(history.objectionTo(one)).toContain('an older history');
  expect(history.objectionTo(otherServer)).toBeUndefined();
  const inherited = createNewestHistory(JSON.parse(JSON.stringify(history.get())));
  expect(inherited.objectionTo(first)).toContain('an older history');
});

test.each<[string, Partial<Identity>, boolean]>([
  ['the same', {}, false],
  ['an older timeline', { timeline: 2 }, true],
  [
    'an older timeline, though newer by number',
    { timeline: 2, incarnation: { number: 9, token: 'b' } },
    true,
  ],
  ['an older incarnation', { incarnation: { number: 4, token: 'b' } }, true],
  ['none on record', { incarnation: undefined }, true],
  ['a newer timeline that has forgotten incarnations', { timeline: 4, incarnation: undefined }, false],
  ['another incarnation with the same number', { incarnation: { number: 5, token: 'b' } }, false],
  ['another server', { systemIdentifier: '2', timeline: 1 }, false],
])('history: %s', (_, difference, isOlder) => {
  const known: Identity = { systemIdentifier: '1', timeline: 3, incarnation: { number: 5, token: 'a' } };
  expect(isOlderHistory({ ...known, ...difference }, known)).toBe(isOlder);
});
