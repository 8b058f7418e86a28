import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isCitusAvailable } from './available.ts';
import type { CitusNode } from './citus.ts';
import { startCitus } from './start.ts';

async function connect(node: CitusNode): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: node.url });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe.runIf(isCitusAvailable)('Citus for tests', async () => {
  if (!isCitusAvailable) return;
  const citus = await startCitus();

  const portOf = async (session: pg.Client, schema: string) => {
    const { rows } = await session.query<{ nodeport: number }>(
      `SELECT DISTINCT nodeport FROM citus_shards WHERE starts_with(table_name::text, $1 || '.')`,
      [schema],
    );
    return rows.map(row => row.nodeport);
  };

  test('a schema lives on one worker and moves to another with its rows', async () => {
    const session = await connect(citus.coordinator);
    const ports = citus.workers.map(worker => worker.port).sort();
    const { rows: nodes } = await session.query(
      `SELECT node_name, node_port FROM citus_get_active_worker_nodes() ORDER BY node_port`,
    );
    expect(nodes).toEqual(ports.map(port => ({ node_name: '127.0.0.1', node_port: String(port) })));

    await session.query('SET citus.enable_schema_based_sharding = on');
    await session.query('CREATE SCHEMA shard_1');
    await session.query('CREATE TABLE shard_1.accounts (id int PRIMARY KEY, units bigint NOT NULL)');
    await session.query('INSERT INTO shard_1.accounts VALUES (1, 100)');
    const [from] = await portOf(session, 'shard_1');
    expect(ports).toContain(from);

    const target = citus.workers.find(worker => worker.port !== from)!;
    await session.query(`SELECT citus_schema_move('shard_1', '127.0.0.1', $1, 'force_logical')`, [
      target.port,
    ]);
    expect(await portOf(session, 'shard_1')).toEqual([target.port]);
    const onNode = await connect(target);
    expect((await onNode.query('SELECT * FROM shard_1.accounts')).rows).toEqual([{ id: 1, units: '100' }]);
  });

  test('a worker that was killed comes back with its shards', async () => {
    const session = await connect(citus.coordinator);
    await session.query('SET citus.enable_schema_based_sharding = on');
    await session.query('CREATE SCHEMA shard_2');
    await session.query('CREATE TABLE shard_2.accounts (id int PRIMARY KEY)');
    await session.query('INSERT INTO shard_2.accounts VALUES (7)');
    const [port] = await portOf(session, 'shard_2');
    const holder = citus.workers.find(worker => worker.port === port)!;

    await holder.kill();
    await expect(session.query('SELECT * FROM shard_2.accounts')).rejects.toThrow(/connection/);
    await holder.start();
    expect((await session.query('SELECT * FROM shard_2.accounts')).rows).toEqual([{ id: 7 }]);
  });

  test('a node that is added takes a schema', async () => {
    const session = await connect(citus.coordinator);
    await session.query('SET citus.enable_schema_based_sharding = on');
    await session.query('CREATE SCHEMA shard_3');
    await session.query('CREATE TABLE shard_3.accounts (id int PRIMARY KEY)');
    const added = await citus.addNode();
    await session.query(`SELECT citus_schema_move('shard_3', '127.0.0.1', $1, 'force_logical')`, [
      added.port,
    ]);
    expect(await portOf(session, 'shard_3')).toEqual([added.port]);
  });
});
