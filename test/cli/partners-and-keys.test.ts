import { test as base, describe, expect } from 'vitest';
import { createCommandLine } from './command-line.ts';

const { pool, partner, run, runJson, expectRefusal } = await createCommandLine();
const test = base.extend('created', () => runJson(`key create ${partner} --mode test`));

describe('partner', () => {
  test('create names the next command', async () => {
    const { stdout } = await run('partner create --name Second');
    expect(stdout).toMatch(
      /^Created prt_\w{26} \(Second\)\.\nNext: bin\/kopeck key create prt_\w{26} --mode test\n$/,
    );
  });

  test('list, as JSON and as a table', async () => {
    const { partners } = await runJson('partner list');
    const listed = { partner_id: partner, name: 'Кофейня', state: 'active' };
    expect(partners[0]).toEqual({ ...listed, created_at: expect.any(String) });
    expect((await run('partner list')).stdout).toMatch(
      new RegExp(`^partner .*\\n─.*\\n${partner}  Кофейня +active`),
    );
  });

  test('show gives state, limits and the balances of both modes', async () => {
    const none = { held_usdt: '0.000000', settled_usdt: '0.000000' };
    expect(await runJson(`partner show ${partner}`)).toEqual({
      ...{ partner_id: partner, name: 'Кофейня', state: 'active', live_approved: true },
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      limits: {
        ...{ min_rub: '10.00', max_rub: '100000.00', daily_rub: null, concurrent: 2 },
        ...{ create_rps: 3, create_burst: 10, other_rps: 20 },
      },
      balances: {
        live: { balance_usdt: '0.000000', ...none },
        test: { balance_usdt: '10000.000000', ...none },
      },
      webhook: null,
    });
    expect((await run(`partner show ${partner}`)).stdout).toMatch(/test +10000\.000000/);
  });

  test('suspend and resume', async () => {
    expect(await runJson(`partner suspend ${partner}`)).toMatchObject({ state: 'suspended' });
    const suspended = /is suspended: run bin\/kopeck partner resume/;
    await expectRefusal(1, suspended, `key create ${partner} --mode test`);
    expect(await runJson(`partner resume ${partner}`)).toMatchObject({ state: 'active' });
  });

  test('limits changes what is given and shows the rest', async () => {
    const changed = await runJson(
      `partner limits ${partner} --max-rub 250000 --daily-rub 1000000.50 --concurrent 5`,
    );
    expect(changed.limits).toMatchObject({
      min_rub: '10.00',
      max_rub: '250000.00',
      daily_rub: '1000000.50',
      concurrent: 5,
    });
    expect((await runJson(`partner limits ${partner} --daily-rub none`)).limits.daily_rub).toBeNull();
    expect((await runJson(`partner limits ${partner}`)).limits.concurrent).toBe(5);
    await expectRefusal(1, /would exceed the maximum/, `partner limits ${partner} --min-rub 300000`);
  });

  test('that does not exist is reported in one line, also as JSON', async () => {
    const unknown = 'prt_01h455vb4pex5vsknk084sn02q';
    const noPartner = /^There is no partner .*: see bin\/kopeck partner list\.$/m;
    for (const typed of [unknown, 'nonsense', 'timeout', ''])
      await expectRefusal(1, noPartner, 'partner show', typed);
    const { code, stderr, stdout } = await run('partner show', unknown, '--json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({
      error: { code: 'no_partner', message: expect.stringContaining(unknown) },
    });
  });
});

describe('key', () => {
  test('create shows the key once, list never does, revoke ends it', async () => {
    const { key, key_id } = await runJson(
      `key create ${partner} --mode live --allow-ip 192.0.2.0/24 --allow-ip 2001:db8::/32`,
    );
    expect(key).toMatch(new RegExp(`^svc_live_${key_id}_[0-9a-f]{48}$`));
    const listed = await run(`key list ${partner}`);
    expect(listed.stdout).toContain(key_id);
    expect(listed.stdout).toContain('192.0.2.0/24, 2001:db8::/32');
    expect(listed.stdout).not.toContain(key);
    expect(await runJson(`key revoke ${key_id}`)).toMatchObject({ key_id, state: 'revoked' });
    expect((await run(`key revoke ${key_id}`)).stdout).toBe(`Key ${key_id} is already revoked.\n`);
    await expectRefusal(1, /^There is no key 123/, 'key revoke 123');
  });

  test('revoke takes a whole key too, and does not repeat it', async ({ created: { key, key_id } }) => {
    expect((await run('key revoke', key)).stdout).toBe(`Key ${key_id} is revoked.\n`);
    const { code, stderr } = await run('key revoke', key.replace(key_id, '0'.repeat(12)));
    expect([code, stderr]).toEqual([1, 'There is no key 000000000000: see bin/kopeck key list.\n']);
  });

  test('create takes scopes, limits, a label and an expiry; list shows them', async () => {
    const limits = ['--max-payment', '500', '--max-day', '2000.50', '--expires', '90d', '--label', 'Till 4'];
    const created = await runJson(`key create ${partner} --mode test --scope pay`, ...limits);
    expect(created).toMatchObject({
      label: 'Till 4',
      scopes: ['pay'],
      max_payment_rub: '500.00',
      max_day_rub: '2000.50',
      state: 'active',
      rolled_to: null,
    });
    const days = (Date.parse(created.expires_at) - Date.parse(created.created_at)) / 86_400_000;
    expect(days).toBeCloseTo(90, 2);
    const { stdout } = await run(`key list ${partner}`);
    expect(stdout).toMatch(
      new RegExp(`${created.key_id} +Till 4 +test +active +pay +500.00 a payment, 2000.50 a day`),
    );
    const refusals = [
      [/read or pay/, '--scope', 'write'],
      [/a positive amount/, '--max-day', '0'],
      [/a number of days/, '--expires', 'soon'],
    ] as const;
    for (const [message, ...options] of refusals)
      await expectRefusal(2, message, `key create ${partner} --mode test`, ...options);
    await expectRefusal(1, /expired already/, `key create ${partner} --mode test --expires 2020-01-01`);
  });

  test('roll shows the new key once, and until when the old one is valid', async () => {
    const { key_id } = await runJson(`key create ${partner} --mode test --scope read`);
    const { stdout } = await run(`key roll ${key_id} --overlap 7d`);
    expect(stdout).toMatch(
      new RegExp(`key +svc_test_[0-9a-f]{12}_[0-9a-f]{48}\nold key +${key_id}, valid until \\d{4}-.* UTC`),
    );
    await expectRefusal(1, /was rolled already/, `key roll ${key_id}`);
    const { rolled_to } = (await runJson(`key list ${partner}`)).keys.find(
      (one: { key_id: string }) => one.key_id === key_id,
    );
    const again = await runJson(`key roll ${rolled_to} --overlap 0h`);
    expect(again).toMatchObject({ scopes: ['read'], old_key: { key_id: rolled_to, state: 'expired' } });
    await expectRefusal(1, /has expired/, `key roll ${rolled_to}`);
    await expectRefusal(1, /^There is no key 123/, 'key roll 123');
    await expectRefusal(2, /at most 7 days/, `key roll ${again.key_id} --overlap 169h`);
  });

  test('allow changes from where a key is accepted', async ({ created: { key, key_id } }) => {
    const narrow = ['--allow-ip', '192.0.2.7', '--allow-ip', '2001:db8::/32'];
    expect(await runJson(`key allow ${key_id}`, ...narrow)).toMatchObject({
      key_id,
      allowed_addresses: ['192.0.2.7', '2001:db8::/32'],
    });
    expect((await run('key allow', key, '--any')).stdout).toBe(
      `Allowed IP addresses of key ${key_id}: any.\n`,
    );
    await expectRefusal(2, /either --allow-ip/, `key allow ${key_id}`);
    await expectRefusal(2, /either --allow-ip/, `key allow ${key_id} --any`, ...narrow);
    await expectRefusal(2, /an IP address or a range/, `key allow ${key_id} --allow-ip office`);
    await expectRefusal(1, /^There is no key 123/, 'key allow 123 --any');
    await run(`key revoke ${key_id}`);
    await expectRefusal(1, /is revoked/, `key allow ${key_id} --any`);
    const allowed = `SELECT actor FROM audit WHERE subject = $1 AND action = 'key.allow'`;
    expect((await pool.query(allowed, [key_id])).rows).toHaveLength(2);
  });

  test('is audited with the actor, without the secret', async ({ created: { key, key_id } }) => {
    const { rows } = await pool.query('SELECT actor, action, after FROM audit WHERE subject = $1', [key_id]);
    const after = { partnerId: partner, mode: 'test', allowedAddresses: [] };
    expect(rows).toEqual([{ actor: expect.stringMatching(/^cli:./), action: 'key.create', after }]);
    expect(JSON.stringify(rows)).not.toContain(key);
  });
});

test('a maximum of keys is refused with the way out, changes of people do not count', async () => {
  const { partner_id } = await runJson('partner create --name Collector');
  const create = ['key', 'create', partner_id, '--mode', 'test'];
  const { key_id } = await runJson(...create);
  const fill = `INSERT INTO daily_changes (owner, day, count) VALUES ($1, date_trunc('day', now(), 'UTC'), 50)
                ON CONFLICT (owner) DO UPDATE SET count = 50`;
  await pool.query(fill, [`keys ${partner_id} test`]);
  const rolled = await runJson('key roll', (await runJson(...create)).key_id);
  await runJson(`key allow ${rolled.key_id} --allow-ip 192.0.2.7`);
  await runJson(`key allow ${rolled.key_id} --any`);
  await runJson(`key revoke ${rolled.key_id}`);
  await pool.query(
    `INSERT INTO api_keys (id, partner_id, mode, hash, allowed_addresses, scopes, created_at)
     SELECT 'more' || nth, k.partner_id, k.mode, k.hash, '{}', k.scopes, k.created_at
       FROM api_keys k, generate_series(2, 20) AS nth WHERE k.id = $1`,
    [key_id],
  );
  await expectRefusal(1, /has 20 active test keys, the maximum: run .*key revoke/, ...create);
  expect((await runJson(`key revoke ${key_id}`)).state).toBe('revoked');
});
