import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { lockSchema } from '../../src/db/migrate.ts';
import { kopeck, startKopeck } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';
import { secretKey } from '../helpers/partners.ts';
import { isCitusAvailable } from './available.ts';
import { createCitusDatabase, databaseAt } from './citus.ts';
import { startCitus } from './start.ts';

describe.runIf(isCitusAvailable)('kopeck shard on Citus', async () => {
  if (!isCitusAvailable) return;
  const citus = await startCitus();
  const [first, second] = citus.workers.map(({ port }) => `127.0.0.1:${port}`).sort() as [string, string];
  const newInstallation = async (name: string, workers = citus.workers) => {
    const url = await createCitusDatabase(
      citus.coordinator.url,
      workers.map(worker => worker.url),
      name,
    );
    const env = { DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder() };
    expect((await kopeck(env, 'migrate')).code).toBe(0);
    return { url, shard: (...args: string[]) => kopeck(env, 'shard', ...args), env };
  };
  const { shard, url, env } = await newInstallation('kopeck');
  const list = async () =>
    JSON.parse((await shard('list', '--json')).stdout).shards.map(({ node }: { node: string }) => node);
  /** The servers on record for a shard. */
  const recorded = async (number: number) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(`SELECT node, next_node FROM shard_${number}.shard_state`);
    await client.end();
    return rows;
  };
  const doctor = async () => {
    const { checks } = JSON.parse((await kopeck(env, 'doctor', '--json')).stdout);
    return Object.fromEntries(
      checks.map(({ check, state, detail }: Record<string, string>) => [check!, `${state}: ${detail}`]),
    );
  };

  test('without a worker nothing is created, and the line says how to add one', async () => {
    const { shard: create } = await newInstallation('empty', []);
    const refused = await create('create');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("SELECT citus_add_node('HOST', PORT)");
  });

  test('a new shard is on the node with the fewest, or on the one that is named', async () => {
    const made = JSON.parse((await shard('create', '1', '--json')).stdout);
    expect(made).toEqual({ shard: 1, created: true, node: first, processes: 0, processes_left: 0 });
    expect((await shard('create')).stdout).toContain(`Shard 2 is created on ${second}.`);
    expect((await shard('create', '3', '--node', second)).stdout).toContain(
      `Shard 3 is created on ${second}.`,
    );
    expect((await shard('create')).stdout).toContain(`Shard 4 is created on ${first}.`);
    expect(await list()).toEqual([null, first, second, second, first]);
    const { shards } = JSON.parse((await shard('list', '--json')).stdout);
    for (const { bytes } of shards) expect(bytes).toBeGreaterThan(100_000);
  });

  test.each([
    [
      ['create', '--node', '127.0.0.1:1'],
      1,
      'There is no node 127.0.0.1:1 that may have shards. There are: ',
    ],
    [['create', '--node', 'nowhere'], 2, 'the address of a node, such as db2.internal:5432'],
    [
      ['move', '1', '--to', '127.0.0.1:1'],
      1,
      'There is no node 127.0.0.1:1 that may have shards. There are: ',
    ],
    [['move', '0', '--to', first], 2, 'shard 0 stays on the server of the database'],
    [['move', '7', '--to', first], 1, 'There is no shard 7: see kopeck shard list.'],
  ])('refuses %s', async (args, code, line) => {
    const refused = await shard(...args);
    expect(refused.stderr).toContain(line);
    expect(refused.code).toBe(code);
  });

  test('a shard moves, and a repeat moves nothing', async () => {
    const moved = await shard('move', '1', '--to', second);
    expect(moved.stderr).toMatch(/^(Moving shard 1 to \S+: [\w ]+, [\d.]+ of [\d.]+ MB, \d+ s\n)*$/);
    expect(moved.stdout).toMatch(
      new RegExp(`^Shard 1 is on ${second} now. It took \\d+ s. ${first} removes its copy`),
    );
    expect((await list())[1]).toBe(second);
    expect(await recorded(1)).toEqual(await recorded(2));
    expect((await shard('move', '1', '--to', second)).stdout).toBe(
      `Shard 1 is on ${second} already. Nothing was moved.\n`,
    );
    const back = JSON.parse((await shard('move', '1', '--to', first, '--json')).stdout);
    expect(back).toEqual({
      ...{ shard: 1, moved: true, node: first },
      elapsed_sec: expect.any(Number),
      sessions_left: 0,
    });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(
      "SELECT subject, before, after FROM audit WHERE action = 'shard.move' ORDER BY id",
    );
    expect(rows).toEqual([
      { subject: 'shard_1', before: { node: first }, after: { node: second } },
      { subject: 'shard_1', before: { node: second }, after: { node: first } },
    ]);
    await client.end();
    expect(await recorded(1)).toEqual(await recorded(4));
  }, 120_000);

  test('a command that is killed leaves a shard that serves, and a repeat moves it', async () => {
    const killed = startKopeck(env, 'shard', 'move', '1', '--to', second);
    await expect.poll(killed.stderr, { timeout: 60_000 }).toContain('Moving shard 1');
    await killed.stop('SIGKILL');
    const repeat = () => shard('move', '1', '--to', second);
    expect((await repeat()).stderr).toContain('A move of shard 1 is under way. Repeat the command');
    await expect
      .poll(async () => (await repeat()).stdout, { timeout: 120_000, interval: 500 })
      .toContain(`Shard 1 is on ${second} now.`);
    expect((await list())[1]).toBe(second);
    expect(await recorded(1)).toEqual(await recorded(2));
    expect((await shard('move', '1', '--to', first)).code).toBe(0);
  }, 240_000);

  test('while a copy that was left is read, the shard does not move back to it, and the line says why', async () => {
    const { url: old } = citus.workers.find(({ port }) => first.endsWith(`:${port}`))!;
    const reader = new pg.Client({ connectionString: databaseAt(old, 'kopeck') });
    await reader.connect();
    await reader.query('SET citus.override_table_visibility = off');
    await reader.query('BEGIN');
    const { rows } = await reader.query(
      "SELECT oid::regclass AS name FROM pg_class WHERE relnamespace = 'shard_1'::regnamespace AND relname ~ '^accounts_[0-9]+$'",
    );
    await reader.query(`SELECT FROM ${rows[0].name} LIMIT 1`);
    expect((await shard('move', '1', '--to', second)).stdout).toContain(`Shard 1 is on ${second} now.`);
    const back = () => shard('move', '1', '--to', first);
    const refused = await back();
    await reader.end();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`${first} still has a copy of shard 1 from an earlier move`);
    expect((await list())[1]).toBe(second);
    expect((await back()).stdout).toContain(`Shard 1 is on ${first} now.`);
  }, 240_000);

  test('a shard leaves a node that must have no shards any more', async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const [host, port] = first.split(':');
    const allow = (may: boolean) =>
      client.query("SELECT citus_set_node_property($1, $2, 'shouldhaveshards', $3)", [host, port, may]);
    await allow(false);
    const moved = await shard('move', '1', '--to', second);
    await allow(true);
    await client.end();
    expect(moved.stdout).toContain(`Shard 1 is on ${second} now.`);
    expect((await shard('move', '1', '--to', first)).code).toBe(0);
  }, 120_000);

  test('no shard moves while the schema changes', async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('BEGIN');
    expect(await lockSchema(client)).toBe(true);
    const refused = await shard('move', '1', '--to', second);
    await client.end();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Another process changes the schema, as during an upgrade');
    expect((await list())[1]).toBe(first);
  });

  test('the doctor names a transaction that was left half committed', async () => {
    const { url: at } = citus.workers.find(({ port }) => first.endsWith(`:${port}`))!;
    const client = new pg.Client({ connectionString: databaseAt(at, 'kopeck') });
    await client.connect();
    // Of a node that is not there.
    const gid = 'citus_99_1_1_1';
    await client.query('BEGIN');
    await client.query('CREATE TABLE half_committed ()');
    await client.query(`PREPARE TRANSACTION '${gid}'`);
    expect((await doctor())['Citus transactions']).toMatch(/^ok: /);
    await expect
      .poll(async () => (await doctor())['Citus transactions'], { timeout: 30_000, interval: 1_000 })
      .toMatch(new RegExp(`^bad: prepared transactions lock accounts.* \\(${first}: ${gid}\\)`));
    await client.query(`ROLLBACK PREPARED '${gid}'`);
    await client.end();
    expect((await doctor())['Citus transactions']).toMatch(/^ok: /);
  }, 60_000);

  test('the doctor knows the nodes, and names the one that is down with the fix', async () => {
    const found = await doctor();
    expect(found['Citus nodes']).toBe(`ok: ${first} (shard 1, 4), ${second} (shard 2, 3)`);
    expect(found['Citus settings']).toMatch(/^ok: version 14\S* on all nodes, shards can move$/);
    expect(found['Citus moves']).toMatch(/^(ok: none under way|warn: \d+ tables and subscriptions)/);
    const down = citus.workers.find(({ port }) => second.endsWith(`:${port}`))!;
    await down.kill();
    try {
      expect((await doctor())['Citus nodes']).toMatch(
        new RegExp(`^bad: ${second} cannot be used .*, so partners of its shards get 503: start it`),
      );
      const moved = await shard('move', '1', '--to', second);
      expect(moved.stderr).toContain(`The node ${second} cannot be used`);
    } finally {
      await down.start();
    }
  }, 120_000);
});
