import { beforeAll, describe, expect, test } from 'vitest';
import { acceptInvitation, signUp } from '../../src/partners/index.ts';
import { kopeck, kopeckProcess } from '../helpers/cli.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';

const { pool, url } = await createDatabase();
const dataDir = newFolder();

const run = (...args: string[]) => kopeck({ DATABASE_URL: url, DATA_DIR: dataDir }, ...args);
const runJson = async (...args: string[]) => {
  const { code, stdout, stderr } = await run(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};

let partner: string;
beforeAll(async () => {
  partner = (await runJson('partner', 'create', '--name', 'Кофейня')).partner_id;
});

const oneLine = /^[^\n]+\n$/;

async function expectRefusal(code: 1 | 2, message: RegExp, ...args: string[]): Promise<void> {
  const result = await run(...args);
  expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' });
  expect(result.stderr).toMatch(message);
  if (code === 1) expect(result.stderr).toMatch(oneLine);
}

describe('partner', () => {
  test('create says what to do next', async () => {
    const { stdout } = await run('partner', 'create', '--name', 'Second');
    expect(stdout).toMatch(
      /^Created prt_\w{26} \(Second\)\.\nNext: kopeck key create prt_\w{26} --mode test\n$/,
    );
  });

  test('list, as JSON and as a table', async () => {
    const { partners } = await runJson('partner', 'list');
    expect(partners[0]).toEqual({
      partner_id: partner,
      name: 'Кофейня',
      state: 'active',
      created_at: expect.any(String),
    });
    expect((await run('partner', 'list')).stdout).toMatch(
      new RegExp(`^partner .*\\n─.*\\n${partner}  Кофейня +active`),
    );
  });

  test('show gives state, limits and the balances of both modes', async () => {
    expect(await runJson('partner', 'show', partner)).toEqual({
      partner_id: partner,
      name: 'Кофейня',
      state: 'active',
      live_approved: true,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      limits: {
        min_rub: '10.00',
        max_rub: '100000.00',
        daily_rub: null,
        concurrent: 2,
        create_rps: 3,
        create_burst: 10,
        other_rps: 20,
      },
      balances: {
        live: { balance_usdt: '0.000000', held_usdt: '0.000000', settled_usdt: '0.000000' },
        test: { balance_usdt: '10000.000000', held_usdt: '0.000000', settled_usdt: '0.000000' },
      },
      webhook: null,
    });
    expect((await run('partner', 'show', partner)).stdout).toMatch(/test +10000\.000000/);
  });

  test('suspend and resume', async () => {
    expect(await runJson('partner', 'suspend', partner)).toMatchObject({ state: 'suspended' });
    await expectRefusal(
      1,
      /is suspended and gets no keys: kopeck partner resume/,
      'key',
      'create',
      partner,
      '--mode',
      'test',
    );
    expect(await runJson('partner', 'resume', partner)).toMatchObject({ state: 'active' });
  });

  test('limits changes what is given and shows the rest', async () => {
    const changed = await runJson(
      'partner',
      'limits',
      partner,
      '--max-rub',
      '250000',
      '--daily-rub',
      '1000000.50',
      '--concurrent',
      '5',
    );
    expect(changed.limits).toMatchObject({
      min_rub: '10.00',
      max_rub: '250000.00',
      daily_rub: '1000000.50',
      concurrent: 5,
    });
    expect((await runJson('partner', 'limits', partner, '--daily-rub', 'none')).limits.daily_rub).toBeNull();
    expect((await runJson('partner', 'limits', partner)).limits.concurrent).toBe(5);
    await expectRefusal(1, /would be above the largest/, 'partner', 'limits', partner, '--min-rub', '300000');
  });

  test('that does not exist is one line, as JSON too', async () => {
    const unknown = 'prt_01h455vb4pex5vsknk084sn02q';
    for (const typed of [unknown, 'nonsense', 'timeout', '']) {
      await expectRefusal(
        1,
        /^There is no partner .*: see kopeck partner list\.$/m,
        'partner',
        'show',
        typed,
      );
    }
    const { code, stderr, stdout } = await run('partner', 'show', unknown, '--json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({
      error: { code: 'no_partner', message: expect.stringContaining(unknown) },
    });
  });
});

describe('key', () => {
  test('create shows the key once, list never does, revoke ends it', async () => {
    const { key, key_id } = await runJson(
      'key',
      'create',
      partner,
      '--mode',
      'live',
      '--allow-ip',
      '192.0.2.0/24',
      '--allow-ip',
      '2001:db8::/32',
    );
    expect(key).toMatch(new RegExp(`^svc_live_${key_id}_[0-9a-f]{48}$`));
    const listed = await run('key', 'list', partner);
    expect(listed.stdout).toContain(key_id);
    expect(listed.stdout).toContain('192.0.2.0/24, 2001:db8::/32');
    expect(listed.stdout).not.toContain(key);
    expect(await runJson('key', 'revoke', key_id)).toMatchObject({ key_id, state: 'revoked' });
    expect((await run('key', 'revoke', key_id)).stdout).toBe(`Key ${key_id} is already revoked.\n`);
    await expectRefusal(1, /^There is no key 123/, 'key', 'revoke', '123');
  });

  test('revoke takes a whole key too, and does not repeat it', async () => {
    const { key, key_id } = await runJson('key', 'create', partner, '--mode', 'test');
    expect((await run('key', 'revoke', key)).stdout).toBe(`Key ${key_id} is revoked.\n`);
    const unknown = key.replace(key_id, '0'.repeat(12));
    const { code, stderr } = await run('key', 'revoke', unknown);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'There is no key 000000000000: see kopeck key list.\n',
    });
  });

  test('allow changes from where a key is accepted', async () => {
    const { key, key_id } = await runJson('key', 'create', partner, '--mode', 'test');
    const narrow = ['--allow-ip', '192.0.2.7', '--allow-ip', '2001:db8::/32'];
    expect(await runJson('key', 'allow', key_id, ...narrow)).toMatchObject({
      key_id,
      allowed_addresses: ['192.0.2.7', '2001:db8::/32'],
    });
    expect((await run('key', 'allow', key, '--any')).stdout).toBe(
      `Key ${key_id} is accepted from any address.\n`,
    );
    await expectRefusal(2, /either --allow-ip/, 'key', 'allow', key_id);
    await expectRefusal(2, /either --allow-ip/, 'key', 'allow', key_id, '--any', ...narrow);
    await expectRefusal(2, /an address or a range/, 'key', 'allow', key_id, '--allow-ip', 'office');
    await expectRefusal(1, /^There is no key 123/, 'key', 'allow', '123', '--any');
    await run('key', 'revoke', key_id);
    await expectRefusal(1, /is revoked/, 'key', 'allow', key_id, '--any');
    const { rows } = await pool.query(`SELECT actor FROM audit WHERE subject = $1 AND action = 'key.allow'`, [
      key_id,
    ]);
    expect(rows).toHaveLength(2);
  });

  test('is on record with the person, without the secret', async () => {
    const { key, key_id } = await runJson('key', 'create', partner, '--mode', 'test');
    const { rows } = await pool.query('SELECT actor, action, after FROM audit WHERE subject = $1', [key_id]);
    expect(rows).toEqual([
      {
        actor: expect.stringMatching(/^cli:./),
        action: 'key.create',
        after: { partnerId: partner, mode: 'test', allowedAddresses: [] },
      },
    ]);
    expect(JSON.stringify(rows)).not.toContain(key);
  });
});

describe('balance', () => {
  const credit = (usdt: string, reference: string, mode = 'live') => [
    'balance',
    'credit',
    partner,
    '--mode',
    mode,
    '--usdt',
    usdt,
    '--reference',
    reference,
  ];

  test('credit counts once per reference', async () => {
    const first = {
      partner_id: partner,
      mode: 'live',
      reference: 'tx-1',
      credited_usdt: '250.500000',
      already_credited: false,
      balance_usdt: '250.500000',
    };
    expect(await runJson(...credit('250.5', 'tx-1'))).toEqual(first);
    expect(await runJson(...credit('250.5', 'tx-1'))).toEqual({ ...first, already_credited: true });
    await expectRefusal(
      1,
      /^The reference "tx-1" was credited before with another amount/,
      ...credit('250.6', 'tx-1'),
    );
    expect((await runJson('partner', 'show', partner)).balances.live.balance_usdt).toBe('250.500000');
  });

  test.each([
    '1e400',
    'NaN',
    '-0',
    '-5',
    '0',
    '0.000000',
    '1.1234567',
    '1'.repeat(30),
    '1,5',
    '',
    ' ',
    'Infinity',
    '0x10',
    '1000000000',
  ])('an amount of %j is a wrong call and credits nothing', async amount => {
    const before = await pool.query('SELECT count(*) FROM entries');
    await expectRefusal(
      2,
      /option '--usdt <amount>' argument '.*' is invalid\. It must be a positive amount/,
      ...credit(amount, 'bad'),
    );
    expect((await pool.query('SELECT count(*) FROM entries')).rows).toEqual(before.rows);
  });

  test('a mode or a reference that is none is a wrong call', async () => {
    await expectRefusal(2, /Allowed choices are test, live/, ...credit('1', 'x', 'prod'));
    await expectRefusal(2, /argument ' ' is invalid/, ...credit('1', ' '));
    await expectRefusal(2, /is invalid/, ...credit('1', 'x'.repeat(129)));
    await expectRefusal(2, /is invalid/, ...credit('1', 'two\nlines'));
    await expectRefusal(2, /is invalid/, ...credit('1', '\u200b'));
    await expectRefusal(2, /is invalid/, ...credit('1', 'turned \u202e around'));
  });
});

describe('the rest', () => {
  test('recipients', async () => {
    expect(await runJson('recipient', 'block', 'ООО «Ромашка»')).toEqual({
      recipient: 'ООО «Ромашка»',
      blocked: true,
    });
    expect((await runJson('recipient', 'list')).recipients).toEqual([
      { recipient: 'ооо «ромашка»', blocked_at: expect.any(String) },
    ]);
    expect((await run('recipient', 'unblock', 'ООО «РОМАШКА»')).stdout).toBe(
      '"ООО «РОМАШКА»" is no longer blocked.\n',
    );
    expect((await run('recipient', 'list')).stdout).toBe('(none)\n');
    await expectRefusal(1, /is not blocked/, 'recipient', 'unblock', 'ООО «Ромашка»');
  });

  test('maintenance', async () => {
    expect(await runJson('maintenance', 'on')).toEqual({ maintenance: true });
    expect((await run('maintenance', 'off')).stdout).toBe('Maintenance is off.\n');
    const plan = ['maintenance', 'plan', '--from', '2126-11-20T22:00:00Z', '--until'];
    const { window_id, ...times } = await runJson(...plan, '2126-11-20T23:00:00Z');
    expect(times).toEqual({ from: '2126-11-20T22:00:00.000Z', until: '2126-11-20T23:00:00.000Z' });
    await expectRefusal(1, /end before it begins/, ...plan, '2126-11-20T21:00:00Z');
    expect(await runJson('maintenance', 'list')).toMatchObject({ windows: [{ window_id, ...times }] });
    expect(await runJson('maintenance', 'cancel', `${window_id}`)).toEqual({ window_id, cancelled: true });
    await expectRefusal(1, /No window/, 'maintenance', 'cancel', `${window_id}`);
  });

  test('a partner that signed up in the bot gets live keys when it is approved; another gets its first owner', async () => {
    const person = { userId: 7_300_000_001n, name: 'Anna' };
    const signed = await signUp(auditContextOf(pool), person, 'Tea');
    const { partnerId } = signed.outcome === 'signed_up' ? signed.partner : { partnerId: '' };
    await expectRefusal(1, /kopeck partner approve/, 'key', 'create', partnerId, '--mode', 'live');
    expect(await runJson('partner', 'approve', partnerId)).toMatchObject({ live_approved: true });
    await runJson('key', 'create', partnerId, '--mode', 'live');

    const { start } = await runJson('partner', 'invite', partner);
    const token = start.replace('/start inv_', '');
    expect(await acceptInvitation(auditContextOf(pool), token, person)).toMatchObject({ outcome: 'joined' });
    await expectRefusal(1, /There is no partner/, 'partner', 'invite', 'prt_nobody');
    await expectRefusal(1, /There is no partner/, 'partner', 'approve', 'prt_nobody');
  });

  test('a wrong call exits with 2, help with 0', async () => {
    await expectRefusal(2, /unknown command 'nonsense'/, 'nonsense');
    await expectRefusal(2, /unknown option '--nonsense'/, 'partner', 'list', '--nonsense');
    await expectRefusal(2, /missing required argument 'partner'/, 'partner', 'show');
    await expectRefusal(2, /too many arguments/, 'partner', 'show', partner, partner);
    await expectRefusal(2, /required option '--name <name>' not specified/, 'partner', 'create');
    expect((await run()).code).toBe(2);
    const asJson = await run('partner', 'show', '--json');
    expect(asJson.code).toBe(2);
    expect(JSON.parse(asJson.stderr)).toEqual({
      error: { code: 'wrong_call', message: "missing required argument 'partner'" },
    });
    expect(await run('--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: kopeck') });
  });

  test('as a process, too, it ends with these codes', async () => {
    const env = { DATABASE_URL: url, DATA_DIR: dataDir };
    expect(await kopeckProcess(env, 'partner', 'show', partner)).toEqual(
      await run('partner', 'show', partner),
    );
    expect(await kopeckProcess(env, 'partner', 'show', 'prt_x')).toEqual(
      await run('partner', 'show', 'prt_x'),
    );
    expect(await kopeckProcess(env, 'partner', 'show')).toEqual(await run('partner', 'show'));
    expect(await kopeckProcess(env, '--help')).toEqual(await run('--help'));
  });

  test('ledger verify exits with 0, or with 1 and the name of what is off', async () => {
    expect(await run('ledger', 'verify')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^The ledger is in order: \d+ entries, 9 invariants hold\.\n$/),
    });
    await pool.query('ALTER TABLE accounts DROP CONSTRAINT accounts_sum_to_zero');
    await pool.query("UPDATE accounts SET available = available + 1 WHERE mode = 'live'");
    const table = await run('ledger', 'verify');
    expect(table.code).toBe(1);
    expect(table.stdout).toContain('entries add up to the balances');
    const { code, stdout } = await run('ledger', 'verify', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([
        expect.objectContaining({ partner_id: partner, mode: 'live', invariant: 'all accounts sum to zero' }),
      ]),
    });
  });
});
