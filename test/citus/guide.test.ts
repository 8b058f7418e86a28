import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { kopeck, startKopeck } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';
import { secretKey } from '../helpers/partners.ts';
import { isCitusAvailable } from './available.ts';
import { databaseAt } from './citus.ts';
import { startCitus } from './start.ts';

/** The steps of docs/operations/citus.md, in their order. */
describe.runIf(isCitusAvailable)('from one server to several', async () => {
  if (!isCitusAvailable) return;
  const { coordinator, workers } = await startCitus({ workers: 3 });
  const url = databaseAt(coordinator.url, 'shop');
  const env = { DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder() };
  const [first, second, third] = workers.map(({ port }) => `127.0.0.1:${port}`) as [string, string, string];

  async function ask(connectionString: string, statement: string) {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }
  const newDatabase = (address: string) =>
    ask(
      address,
      "CREATE DATABASE shop TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'",
    );
  async function run(...args: string[]) {
    const { code, stdout, stderr } = await kopeck(env, ...args, '--json');
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return JSON.parse(stdout);
  }
  const nodes = async () => (await run('shard', 'list')).shards.map(({ node }: { node: string }) => node);
  const balanceOf = async (partner: string) => (await run('partner', 'show', partner)).balances;

  test('a database in use becomes the coordinator, and new partners go to the workers', async () => {
    await newDatabase(coordinator.url);
    await kopeck(env, 'migrate');
    const { partner_id: partner } = await run('partner', 'create', '--name', 'Old shop');
    await run('balance', 'credit', partner, '--mode', 'live', '--usdt', '250', '--reference', 'first');
    const before = await balanceOf(partner);

    for (const worker of workers) {
      await newDatabase(worker.url);
      await ask(databaseAt(worker.url, 'shop'), 'CREATE EXTENSION citus');
    }
    await ask(url, 'CREATE EXTENSION citus');
    await ask(url, `SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`);
    for (const { port } of workers.slice(0, 2)) await ask(url, `SELECT citus_add_node('127.0.0.1', ${port})`);
    const { checks } = JSON.parse((await kopeck(env, 'doctor', '--json')).stdout);
    const states = Object.fromEntries(
      checks.map(({ check, state }: Record<string, string>) => [check!, state]),
    );
    expect(states).toMatchObject({ 'Citus nodes': 'ok', 'Citus settings': 'ok', 'Citus moves': 'ok' });
    await run('shard', 'create', '1', '--node', first);
    await run('shard', 'create', '2', '--node', second);
    expect(await nodes()).toEqual([null, first, second]);

    const { partner_id: added } = await run('partner', 'create', '--name', 'New shop');
    await run('balance', 'credit', added, '--mode', 'live', '--usdt', '100', '--reference', 'first');
    const { shards } = await run('shard', 'list');
    expect(shards.map(({ partners }: { partners: number }) => partners)).toEqual([1, 1, 0]);
    expect(await balanceOf(partner)).toEqual(before);
    expect(await run('ledger', 'verify')).toMatchObject({ ok: true });
  }, 120_000);

  test('a move that is interrupted leaves the shard where it was, and can be repeated', async () => {
    await ask(url, `SELECT citus_add_node('127.0.0.1', ${workers[2]!.port})`);
    const moving = startKopeck(env, 'shard', 'move', '1', '--to', third);
    await expect.poll(moving.stderr, { timeout: 60_000 }).toContain('Moving shard 1');
    const code = await moving.stop('SIGINT');
    expect(code).toBe(130);
    expect(moving.stderr()).toContain('The move was interrupted: shard 1 stays where it was, and serves.');
    expect((await nodes())[1]).toBe(first);
    await ask(url, 'CALL citus_cleanup_orphaned_resources()');
    expect(await run('shard', 'move', '1', '--to', third)).toMatchObject({ moved: true, node: third });
    expect((await nodes())[1]).toBe(third);
    expect(await run('ledger', 'verify')).toMatchObject({ ok: true });
  }, 180_000);

  test('a node without shards can go', async () => {
    await ask(url, 'CALL citus_cleanup_orphaned_resources()');
    await ask(url, `SELECT citus_remove_node('127.0.0.1', ${workers[0]!.port})`);
    expect(await nodes()).toEqual([null, third, second]);
  });
});
