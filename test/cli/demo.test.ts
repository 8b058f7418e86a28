import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createPartner, setSuspended } from '../../src/partners/index.ts';
import { kopeck, startHere, startKopeck } from '../helpers/cli.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { folderWithKey } from '../helpers/folders.ts';
import { startSimulator } from '../helpers/simulator.ts';

const secretKey = 'a secret key for production, long enough';

/** A database and a folder for the demo, and how many rows there are of something. */
async function createPlace() {
  const { pool, url } = await createDatabase();
  const count = async (rows: string): Promise<number> =>
    (await pool.query(`SELECT count(*)::int AS count FROM ${rows}`)).rows[0].count;
  return { pool, env: { DATABASE_URL: url, DATA_DIR: folderWithKey() }, count };
}

test('makes payments of all kinds through the service, and revokes its keys', async () => {
  const { pool, env, count } = await createPlace();
  const { code, stdout, stderr } = await kopeck(env, 'demo --payments 30 --json');
  expect([code, stderr]).toEqual([0, expect.stringContaining('30 of 30')]);
  const { outcomes } = JSON.parse(stdout);
  const total = Object.values<number>(outcomes).reduce((sum, count) => sum + count, 0);
  expect(total).toBe(30);
  expect(outcomes).toMatchObject({ succeeded: expect.any(Number), failed: expect.any(Number) });
  expect(outcomes.processing).toBeGreaterThan(0);

  expect(await count("payments WHERE mode = 'live' AND NOT rejected")).toBe(30);
  expect(await count('api_keys WHERE revoked_at IS NULL')).toBe(0);
  const { rows } = await pool.query('SELECT suspended, live_approved FROM partners');
  expect(rows.filter(({ suspended }) => suspended)).toHaveLength(1);
  expect(rows.filter(({ live_approved }) => !live_approved)).toHaveLength(1);
  expect((await verifyLedger(pool)).findings).toEqual([]);

  // A second run uses the same shops.
  expect((await kopeck(env, 'demo --payments 5')).code).toBe(0);
  expect(await count('partners')).toBe(rows.length);
});

test('pays with the shops that are not suspended, says so, and leaves no key behind', async () => {
  const { pool, env, count } = await createPlace();
  const activeKeys = () => count("api_keys WHERE mode = 'live' AND revoked_at IS NULL");
  const bakery = await createPartner(auditContextOf(pool), 'Demonstration bakery');
  await setSuspended(auditContextOf(pool), bakery.partnerId, true);
  const { code, stdout, stderr } = await kopeck(env, 'demo --payments 10 --json');
  expect(code).toBe(0);
  expect(stderr).toContain(
    `Demonstration bakery makes no payments: it is suspended. To change that: bin/kopeck partner resume ${bakery.partnerId}.\n`,
  );
  expect(JSON.parse(stdout).payments).toBe(10);
  const itsOrRefused = `partner_id = '${uuidFromId(bakery.partnerId)}' OR error_code = 'partner_suspended'`;
  expect(await count(`payments WHERE ${itsOrRefused}`)).toBe(0);
  expect(await activeKeys()).toBe(0);

  // Keys of shops that are open already are revoked when a later step fails.
  await pool.query(`
    CREATE FUNCTION fail_third() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF (SELECT count(*) FROM api_keys WHERE revoked_at IS NULL) = 2 THEN RAISE EXCEPTION 'no third key'; END IF;
      RETURN NEW; END $$;
    CREATE TRIGGER fail_third BEFORE INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION fail_third()`);
  expect((await kopeck(env, 'demo --payments 1')).stderr).toContain('no third key');
  expect(await activeKeys()).toBe(0);

  await pool.query("UPDATE partners SET suspended = true WHERE name LIKE 'Demonstration %'");
  const refused = await kopeck(env, 'demo --payments 1 --json');
  expect(refused.code).toBe(1);
  expect(JSON.parse(refused.stderr).error).toEqual({
    code: 'partner_suspended',
    message: expect.stringMatching(
      /^All shops of the demo are suspended\. To change that: bin\/kopeck partner resume (prt_\w{26}( or )?){5}\. Nothing was changed\.$/,
    ),
  });
});

test('revokes its keys when it is interrupted', async () => {
  const { env, count } = await createPlace();
  const running = startKopeck(env, 'demo', '--payments', '100', '--minutes', '10');
  await expect.poll(() => count('api_keys WHERE revoked_at IS NULL')).toBe(5);
  expect(await count("api_keys WHERE allowed_addresses = '{127.0.0.1}'")).toBe(5);
  await expect.poll(() => count('payments')).toBeGreaterThan(0);
  expect(await running.stop('SIGINT')).toBe(130);
  expect(await count('api_keys WHERE revoked_at IS NULL')).toBe(0);
});

test('is refused where real money could be involved', async () => {
  const { pool, env, count } = await createPlace();
  const refusal = async (more: Record<string, string>, ...args: string[]) => {
    const { code, stderr } = await kopeck({ ...env, ...more }, 'demo --json', ...args);
    return `${code} ${JSON.parse(stderr).error.code}`;
  };
  const atBank = { GATEWAY_URL: 'http://bank.example', RATE_SOURCES: 'fixed:92.5' };
  expect(await refusal(atBank)).toBe('1 real_gateway');
  expect(await refusal({}, '--payments', '10001')).toBe('2 wrong_call');
  await createPartner(auditContextOf(pool), 'A real shop');
  expect(await refusal({})).toBe('1 real_partners');
  const production = await createDatabase();
  const inProduction = { DATABASE_URL: production.url, NODE_ENV: 'production', SECRET_KEY: secretKey };
  expect(await refusal(inProduction)).toBe('1 production');
  expect(await count('partners')).toBe(1);
});

test('is refused where the last payments are at another bank: recovery would release their holds', async () => {
  const { url } = await createDatabase();
  const folder = folderWithKey();
  // A database that began with the simulator and uses a real bank since.
  mkdirSync(join(folder, 'simulator'));
  const bank = await startSimulator();
  const env = { DATABASE_URL: url, DATA_DIR: folder, DRAIN_SEC: '0' };
  const real = { ...env, GATEWAY_URL: bank.address, RATE_SOURCES: 'fixed:92.5', ROLES: 'api,worker' };
  const service = await startHere(real);
  const run = async (...args: string[]) => JSON.parse((await kopeck(real, ...args, '--json')).stdout);
  const { partner_id: partner } = await run('partner create --name', 'Demonstration shop');
  const { key } = await run(`key create ${partner} --mode live`);
  await run(`balance credit ${partner} --mode live --usdt 100 --reference first`);
  const code = (await bank.call('POST', '/sim/qrs', { scenario: 'C2B', amount_kopecks: 10_000 })).body;
  const fault = { kind: 'finish_later', ms: 3_600_000, outcome: 'succeeded', on: 'pay', times: 1 };
  await bank.call('PUT', '/sim/faults', { ...fault, qrc_id: code.qrc_id });
  const authorization = `Bearer ${key}`;
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'real-1' };
  const body = JSON.stringify({ qr_url: code.link });
  // This request never gets an answer.
  const paying = fetch(`${service.address}/v1/payments`, { method: 'POST', headers, body }).catch(() => {});
  const last = async () => {
    const answer = await fetch(`${service.address}/v1/payments`, { headers });
    return ((await answer.json()) as { data: { id: string }[] }).data[0]?.id;
  };
  await expect.poll(last).toBeDefined();
  const paymentId = (await last())!;
  const isTaken = async () => (await bank.call('GET', `/orders/${paymentId}`)).status;
  await expect.poll(isTaken).toBe(200);
  await expect.poll(async () => (await run(`payment show ${paymentId}`)).gateway_order_id).toBeTruthy();
  await service.stop();
  await paying;

  const demo = await kopeck(env, 'demo --payments 5 --json');
  expect((await run(`payment show ${paymentId}`)).status).toBe('processing');
  expect(`${demo.code} ${JSON.parse(demo.stderr).error.code}`).toBe('1 real_payments');

  // The service itself does not start with the simulator either, when GATEWAY_URL is missing by mistake.
  await expect(startHere(env)).rejects.toThrow(/^There are unfinished [^\n]*GATEWAY_URL[^\n]*$/);
  expect((await run(`payment show ${paymentId}`)).status).toBe('processing');
});
