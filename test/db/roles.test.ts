import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kopeck, kopeckProcess, type Service, startService } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';
import { words } from '../helpers/words.ts';
import { createRolesWorld } from './roles-world.ts';

const { ask, envFor, examined, urlFor } = await createRolesWorld();

let service: Service;

beforeAll(async () => {
  service = await startService(envFor('pay_run'));
});
afterAll(() => service.stop());

const qrUrl =
  'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=30510&cur=RUB&crc=B754';

async function pay(mode: string): Promise<string> {
  await expect.poll(service.output).toMatch(`${mode} key `);
  const [key] = new RegExp(`svc_${mode}_\\w+`).exec(service.output())!;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  // The first rate may come later than the key.
  await expect.poll(async () => (await fetch(`${service.address}/v1/rate`, { headers })).status).toBe(200);
  const answer = await fetch(`${service.address}/v1/payments`, {
    method: 'POST',
    headers: { ...headers, 'Idempotency-Key': mode },
    body: JSON.stringify({ qr_url: qrUrl }),
  });
  return ((await answer.json()) as { status: string }).status;
}

describe('the role of the service', () => {
  test('pays in both modes, and keeps the partitions of its logs', async () => {
    expect(await pay('test')).toBe('succeeded');
    expect(await pay('live')).toBe('succeeded');
    const partitions = () =>
      ask('pay_read', "SELECT inhrelid FROM pg_inherits WHERE inhparent = 'gateway_calls'::regclass");
    await expect.poll(async () => (await partitions()).length).toBe(4);
  });

  test('works with the commands that change something', async () => {
    const env = envFor('pay_run');
    const created = await kopeck(env, 'partner', 'create', '--name', 'Shop', '--json');
    const { partner_id } = JSON.parse(created.stdout);
    const commands = [
      ['key', 'create', partner_id, '--mode', 'test'],
      ['balance', 'credit', partner_id, '--mode', 'live', '--usdt', '5', '--reference', 'r'],
      ['partner', 'suspend', partner_id],
      ['partner', 'resume', partner_id],
      ['rate', 'rules', '--spread-bps', '150', '--reason', 'agreed'],
      ['webhook', 'set', partner_id, '--url', 'http://127.0.0.1:9/hook'],
      ['operator', 'create', '--name', 'support-1', '--role', 'support'],
      ['maintenance', 'on'],
      ['maintenance', 'off'],
      ['ledger', 'verify'],
    ];
    for (const command of commands) {
      const { code, stderr } = await kopeck(env, ...command);
      expect({ command, code, stderr }).toMatchObject({ code: 0 });
    }
  });

  test('prunes test data and drops partitions of logs only through functions', async () => {
    const [partner] = await ask<{ id: string }>('pay_run', 'SELECT id FROM partners LIMIT 1');
    const pruned = await ask('pay_run', "SELECT * FROM prune_test_data($1, now() - interval '90 days', 10)", [
      partner!.id,
    ]);
    expect(pruned).toEqual([{ payments: '0', entries: '0' }]);
    await ask('pay_run', "SELECT log_partition_add('gateway_calls', '2020-01-06Z', '2020-01-13Z')");
    await ask('pay_run', "SELECT log_partition_drop('gateway_calls', 'gateway_calls_20200106')");
    await ask('pay_run', "SELECT archive_prepare('2020-01-01')");
    const refused = (text: string) => expect(ask('pay_run', text)).rejects.toThrow();
    await refused("SELECT log_partition_drop('gateway_calls', 'gateway_calls_default')");
    await refused("SELECT log_partition_drop('gateway_calls', 'payments')");
    await refused("SELECT log_partition_drop('payments_archive', 'payments_archive_2020_01')");
    await refused("SELECT log_partition_add('entries_archive', '2020-01-06Z', '2020-01-13Z')");
  });

  test('archives only through functions, which verify what it says', async () => {
    const [paid] = await ask<{ partner: string; mode: string; month: string }>(
      'pay_run',
      'SELECT partner_id AS partner, mode, archive_month_of(id)::text AS month FROM payments ORDER BY id DESC LIMIT 1',
    );
    const { partner, mode, month } = paid!;
    const move = (text: string, of: string) => ask('pay_run', text, [partner, mode, of]);
    const payments = `SELECT payments FROM archive_payments($1, $2, $3, '${'0'.repeat(32)}', now(), 10)`;
    const entries = 'SELECT archive_entries($1, $2, $3, 1000, 10) > 2 AS "areMoved"';
    for (const text of [payments, entries])
      await expect(move(text, month.replace(/01$/, '02'))).rejects.toThrow('not the first day of a month');
    const prepare = `SELECT archive_prepare('${month}')`;
    await expect(ask('pay_read', prepare)).rejects.toMatchObject({ code: '42501' });
    await ask('pay_run', prepare);
    expect(await move(payments, month)).toEqual([{ payments: '1' }]);
    expect(await move(entries, month)).toEqual([{ areMoved: true }]);
    expect(await kopeck(envFor('pay_run'), 'ledger', 'verify')).toMatchObject({ code: 0 });
  });

  /** All tables that a trigger keeps append-only, also one that a later migration adds. */
  const guarded = () =>
    ask<{ name: string }>(
      'pay_owner',
      `SELECT DISTINCT c.relname AS name
         FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
        WHERE p.proname IN ('refuse_change', 'refuse_unarchived', 'refuse_unpruned') AND NOT c.relispartition`,
    );

  test('cannot change, remove or unlock what is append-only', async () => {
    const tables = (await guarded()).map(({ name }) => name).sort();
    const known =
      words(`archived_keys archived_references audit audit_chain deposit_addresses entries entries_archive
      events events_archive operation_numbers payments payments_archive rate_rules rates refunds test_checkpoints`);
    expect(tables).toEqual(known);
    for (const table of tables) {
      const [column] = await ask<{ name: string }>(
        'pay_owner',
        "SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND attidentity = '' LIMIT 1",
        [table],
      );
      const statements = [
        `ALTER TABLE ${table} DISABLE TRIGGER ALL`,
        `ALTER TABLE ${table} ADD COLUMN extra int`,
        `ALTER TABLE ${table} OWNER TO pay_run`,
        `TRUNCATE ${table}`,
        `DELETE FROM ${table}`,
        `DROP TABLE ${table}`,
        `CREATE TRIGGER mine BEFORE DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
        `CREATE RULE mine AS ON DELETE TO ${table} DO INSTEAD NOTHING`,
        // Payments change until they end.
        ...(table === 'payments' ? [] : [`UPDATE ${table} SET ${column!.name} = ${column!.name}`]),
      ];
      for (const statement of statements)
        await expect(ask('pay_run', statement), statement).rejects.toMatchObject({ code: '42501' });
    }
  });

  test.each([
    'SET session_replication_role = replica',
    'CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN OLD; END $$',
    'CREATE FUNCTION is_pruned_entry(uuid, int) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$',
    'CREATE TABLE mine (x int)',
    'CREATE TEMP TABLE audit_unchained (audit_id bigint)',
    'CREATE SCHEMA mine',
    'SET ROLE pay_owner',
    'GRANT pay_owner TO pay_run',
    "UPDATE schema_migrations SET sha256 = ''",
    'ALTER FUNCTION prune_test_data SECURITY INVOKER',
  ])('cannot take more rights: %s', async statement => {
    await expect(ask('pay_run', statement)).rejects.toMatchObject({ code: '42501' });
  });

  test('cannot start on a schema that is missing, and says who can make it', async () => {
    const env = { ...envFor('pay_run'), DATABASE_URL: urlFor('pay_run', 'untouched') };
    const { code, stderr } = await kopeckProcess(env, 'start');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The schema is missing or older .*kopeck migrate --run-role pay_run [^\n]+\n$/);
  });
});

describe('kopeck doctor', () => {
  const privileges = (role: string) => examined(role, 'privileges');

  test('is content with the running role, and warns of the owner and of a superuser', async () => {
    expect(await privileges('pay_run')).toMatch(/^ok: pay_run has what the service needs/);
    expect(await privileges('pay_owner')).toMatch(
      /^warn: pay_owner owns the schema .*kopeck migrate --run-role/,
    );
    expect(await privileges('kopeck')).toMatch(/^warn: kopeck is a superuser/);
  });

  test('names what a role lacks', async () => {
    await ask('pay_owner', 'REVOKE UPDATE ON deliveries FROM pay_run');
    await ask('pay_owner', 'REVOKE EXECUTE ON FUNCTION prune_test_data FROM pay_run');
    expect(await privileges('pay_run')).toBe(
      'bad: pay_run lacks UPDATE on deliveries, EXECUTE on prune_test_data: run bin/kopeck migrate --run-role pay_run as the owner of the schema',
    );
    expect((await kopeck(envFor('pay_owner'), 'migrate')).code).toBe(0);
    expect(await privileges('pay_run')).toMatch(/^ok: /);
  });
});

test('the role that reads sees payments and no secrets, and changes nothing', async () => {
  expect(await ask('pay_read', 'SELECT status FROM all_payments')).toEqual([
    { status: 'succeeded' },
    { status: 'succeeded' },
  ]);
  for (const statement of [
    'SELECT * FROM api_keys',
    'SELECT * FROM operators',
    'SELECT * FROM endpoints',
    'UPDATE payments SET status = status',
    "INSERT INTO alarms (kind, subject, detail, first_at, last_at) VALUES ('x', 'x', 'x', now(), now())",
    'SELECT prune_test_data(gen_random_uuid(), now(), 1)',
    "SELECT log_partition_drop('gateway_calls', 'x')",
  ])
    await expect(ask('pay_read', statement), statement).rejects.toMatchObject({ code: '42501' });
});

describe('kopeck migrate', () => {
  test('gives the known roles the grants of a new table, and takes back what was added', async () => {
    await ask('pay_owner', 'CREATE TABLE newer (x int)');
    await ask('pay_owner', 'GRANT DELETE ON entries TO pay_run');
    expect((await kopeck(envFor('pay_owner'), 'migrate')).stdout).toMatch(
      /^The schema is up to date \(\d+ migrations\)\.\nThe role pay_run may run the service\.\nThe role pay_read may read\.\n$/,
    );
    await ask('pay_run', 'INSERT INTO newer VALUES (1)');
    expect(await ask('pay_read', 'SELECT * FROM newer')).toEqual([{ x: 1 }]);
    await expect(ask('pay_run', 'DELETE FROM entries')).rejects.toMatchObject({ code: '42501' });
    await ask('pay_owner', 'DROP TABLE newer');
  });

  test('needs no SECRET_KEY in production', async () => {
    const env = { DATABASE_URL: urlFor('pay_owner'), NODE_ENV: 'production', DATA_DIR: newFolder() };
    expect((await kopeck(env, 'migrate')).code).toBe(0);
  });

  test.each([
    ['nobody', 'There is no role nobody'],
    ['pay_owner', 'has the rights of the owner'],
    ['kopeck', 'is a superuser'],
  ])('refuses the role %s in one line', async (role, reason) => {
    const { code, stderr } = await kopeck(envFor('pay_owner'), 'migrate', '--run-role', role);
    expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`^[^\\n]*${reason}[^\\n]*\\n$`))]);
  });
});
