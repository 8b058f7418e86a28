import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { explainDatabaseError } from '../../src/db/database.ts';
import { isDatabaseUnavailable, isDatabaseUnreachable } from '../../src/db/postgres/database-errors.ts';
import {
  openPool,
  type Pool,
  parseInstant,
  type Queryable,
  transaction,
} from '../../src/db/postgres/pool.ts';
import { applySessionSettings } from '../../src/db/postgres/session-settings.ts';
import { createDatabase } from '../helpers/database.ts';
import { startTcpReceiver } from '../helpers/tcp-receivers.ts';

const { pool } = await createDatabase();
await pool.query('CREATE TABLE notes (text text NOT NULL)');

const notes = async () =>
  (await pool.query('SELECT text FROM notes ORDER BY text')).rows.map(({ text }) => text);
const add = (db: Queryable, text: string) =>
  db.query({ text: 'INSERT INTO notes VALUES ($1)', values: [text] });
const terminate = async (db: Queryable) => {
  const { rows } = await db.query<{ pid: number }>({ text: 'SELECT pg_backend_pid() AS pid' });
  await pool.query('SELECT pg_terminate_backend($1, 5000)', [rows[0]!.pid]);
};

test('64-bit integers arrive whole', async () => {
  const { rows } = await pool.query('SELECT 9007199254740993::bigint AS value');
  expect(rows[0].value).toBe(9_007_199_254_740_993n);
});

test('arrays arrive as they were given', async () => {
  const texts = [
    '',
    'NULL',
    'null',
    '{a,b}',
    ' a ',
    'a"b\\c',
    '\\',
    '\n\t\u0001\u007f',
    '\u2028 \ufeff',
    'Ёж',
    '😀',
    null,
    undefined,
  ];
  const instants = ['0099-01-01T00:00:00Z', '2026-11-19T20:15:00.123Z', '9999-12-31T23:59:59.999Z'].map(
    text => new Date(text),
  );
  const arrays: [type: string, values: unknown[]][] = [
    ...texts.map((text): [string, unknown[]] => ['text', [text]]),
    ['text', texts],
    ['text', []],
    ['timestamptz', [null]],
    ...instants.map((instant): [string, unknown[]] => ['timestamptz', [instant]]),
    ['bigint', [-9_223_372_036_854_775_808n, 0n]],
    ['float8', [-0.5, 1e300, Number.POSITIVE_INFINITY]],
    ['boolean', [true, false, null]],
    ['bytea', [Buffer.from([0, 34, 92, 255]), null]],
  ];
  for (const [type, values] of arrays) {
    const text = `SELECT e FROM unnest($1::${type}[]) WITH ORDINALITY AS u (e, nth) ORDER BY nth`;
    const { rows } = await pool.query({ name: `elements of ${type}`, text, values: [values] });
    expect(rows.map(({ e }) => e)).toEqual(values.map(value => value ?? null));
  }
  const { rows } = await pool.query({ name: 'texts', text: 'SELECT $1::text[] AS texts', values: [texts] });
  expect(rows[0].texts).toEqual(texts.map(text => text ?? null));
});

test('a connection that is ready too late for its caller stays with the pool', async () => {
  const checked = Promise.withResolvers<void>();
  let checks = 0;
  const check = async () => {
    checks += 1;
    if (checks === 2) await checked.promise;
  };
  const small = openPool({ ...pool.options, connectionTimeoutMillis: 500, check }, 1);
  const first = await small.connect();
  const second = small.connect();
  // Removed, so that the second caller needs a new connection.
  first.release(true);
  await expect(second).rejects.toThrow('timeout exceeded when trying to connect');
  expect(checks).toBe(2);
  checked.resolve();
  await expect.poll(() => small.idleCount).toBe(1);
  expect((await small.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  await small.end();
});

test.each([
  '2026-11-16 12:34:56.789+00',
  '2026-11-16 12:34:56.7+00',
  '2026-11-16 12:34:56.789999+00',
  '2026-11-16 12:34:56+00',
  '2024-02-29 23:59:59.001+00',
  '1969-12-31 23:59:59.5+00',
  '2026-11-16 15:34:56.789+03',
  '2026-11-16 17:04:56.789+04:30',
  '0044-03-15 12:00:00+00 BC',
  '12026-11-16 12:34:56+00',
  'infinity',
])('an instant is read as the driver reads it: %s', text => {
  expect(parseInstant(text)).toEqual(pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)(text));
});

test('the server ends sessions whose connection broke without a packet after some seconds', async () => {
  const wanted = {
    tcp_keepalives_count: '3',
    tcp_keepalives_idle: '5',
    tcp_keepalives_interval: '2',
    tcp_user_timeout: '10000',
  };
  // The tests use a unix socket, where the server keeps that a setting was made, and not its value.
  const { rows } = await pool.query(
    "SELECT name FROM pg_settings WHERE name LIKE 'tcp_%' AND source = 'session' ORDER BY name",
  );
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(wanted));
  const asked: Record<string, string> = {};
  const session = {
    query: async ({ values: [names, values] }: { values: string[][] }) =>
      names!.forEach((name, index) => {
        asked[name] = values![index]!;
      }),
  };
  const none = { statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 };
  await applySessionSettings(session as unknown as pg.ClientBase, none);
  expect(asked).toMatchObject(wanted);
});

describe('a transaction', () => {
  test.each<[string, string, (tx: Queryable) => Promise<unknown>]>([
    ['that throws', 'changed my mind', () => Promise.reject(new Error('changed my mind'))],
    ['whose connection breaks unnoticed', '', terminate],
    [
      'in which an error was swallowed',
      'rolled back',
      tx => tx.query({ text: 'SELECT 1 / 0' }).catch(() => {}),
    ],
  ])('%s leaves nothing, and does not report success', async (what, message, end) => {
    const failing = transaction(pool, async tx => {
      await add(tx, what);
      await end(tx);
    });
    await expect(failing).rejects.toThrow(message);
    expect(await notes()).not.toContain(what);
  });

  test('whose connection breaks lets no later statement run outside it', async () => {
    const broken = transaction(pool, async tx => {
      await add(tx, 'before the cut');
      await terminate(tx);
      await add(tx, 'after the cut').catch(() => {});
      await add(tx, 'long after the cut');
    });
    await expect(broken).rejects.toThrow();
    expect((await notes()).filter(text => text.includes('the cut'))).toEqual([]);
  });

  test('that is over cannot be used', async () => {
    let kept: Queryable | undefined;
    await transaction(pool, async tx => {
      kept = tx;
    });
    await expect(add(kept!, 'too late')).rejects.toThrow('no statement may follow');
    expect(await notes()).not.toContain('too late');
  });
});

describe('limits', () => {
  const shortOnServer = openPool({ ...pool.options, statement_timeout: 50, query_timeout: 5_000 });
  const shortOnClient = openPool({ ...pool.options, statement_timeout: 0, query_timeout: 50 }, 1);
  afterAll(() => Promise.all([shortOnServer.end(), shortOnClient.end()]));

  test('the server ends a statement that takes too long, and the connection stays usable', async () => {
    await expect(shortOnServer.query('SELECT pg_sleep(10)')).rejects.toThrow('statement timeout');
    expect((await shortOnServer.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  test('the client gives up on a server that does not answer, and takes another connection', async () => {
    const hanging = transaction(shortOnClient, async tx => {
      await tx.query({ text: 'SELECT pg_sleep(1)' });
    });
    await expect(hanging).rejects.toThrow('timeout');
    expect((await shortOnClient.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});

test('the pool goes on after all its connections were terminated', async () => {
  await Promise.all(Array.from({ length: 5 }, () => pool.query('SELECT pg_sleep(0.01)')));
  const other = openPool({ ...pool.options }, 1);
  await other.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  await other.end();
  const attempts = await Promise.allSettled(Array.from({ length: 10 }, () => pool.query('SELECT 1 AS one')));
  expect(attempts.at(-1)).toMatchObject({ status: 'fulfilled' });
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});

test('a connection that breaks while it is verified fails its statement and does not end the process', async () => {
  const authenticated = Buffer.from('5200000008000000005a0000000549', 'hex');
  const server = await startTcpReceiver(socket => {
    socket.once('data', () => {
      socket.write(authenticated);
      socket.once('data', () => socket.resetAndDestroy());
    });
  });
  const { user, database } = pool.options;
  const broken = openPool({ host: '127.0.0.1', port: server.port, user, database }, 1);
  // The runner reports an error event without a listener.
  await expect(broken.query('SELECT 1')).rejects.toThrow('ECONNRESET');
  await broken.end();
});

/** Each new session of the database is read-only, as behind a proxy that leads to a standby. */
const setReadOnly = (isOn: boolean) =>
  pool.query(`ALTER DATABASE ${pool.options.database} SET default_transaction_read_only = ${isOn}`);
const write = 'UPDATE service SET reconciled_at = reconciled_at';
const settings = readSettings({ DATABASE_URL: 'postgresql://db.example/kopeck' });
const serverError = (code: string) => Object.assign(new pg.DatabaseError('', 0, 'error'), { code });

test.each(['08000', '08006', '08P01', '25006', '57P01', '57P03'])('%s is unavailability', code => {
  expect(isDatabaseUnreachable(serverError(code))).toBe(true);
  expect(isDatabaseUnavailable(serverError(code))).toBe(true);
});

test.each(['25001', '23505', '40P01', '57014'])('%s is not an unreachable server', code => {
  expect(isDatabaseUnreachable(serverError(code))).toBe(false);
});

test('a name whose addresses all refuse is an unreachable server', () => {
  const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' });
  const all = Object.assign(new AggregateError([refused(), refused()]), { code: 'ECONNREFUSED' });
  expect(isDatabaseUnreachable(all)).toBe(true);
  expect(`${explainDatabaseError(all, settings)}`).toContain('does not answer (ECONNREFUSED)');
});

test.each<[string, (through: Pool) => Promise<unknown>]>([
  ['by a statement', through => through.query(write)],
  ['by a transaction', through => transaction(through, tx => tx.query({ text: write }))],
])('%s', async (_case, send) => {
  const through = openPool({ ...pool.options }, 1);
  try {
    await setReadOnly(true);
    await expect(send(through)).rejects.toMatchObject({ code: '25006' });
    await setReadOnly(false);
    await send(through);
  } finally {
    await setReadOnly(false);
    await through.end();
  }
});

test.each([
  [
    'on a read-only server',
    '25006',
    'is read-only (): DATABASE_URL must point to the primary server, and default_transaction_read_only must be off there.',
  ],
  [
    'that gets no connection',
    '53300',
    'has no connection left (): end the program that holds them, or raise max_connections.',
  ],
])('a command %s names the fix in one line', (_what, code, fix) => {
  const explained = `${explainDatabaseError(serverError(code), settings)}`;
  expect(explained).toContain(`The database at db.example:5432/kopeck ${fix}`);
});
