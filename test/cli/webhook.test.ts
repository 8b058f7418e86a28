import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPartnerWithKeys, newLink, partnerAt, secretKey, setRate, startApi } from '../helpers/api.ts';
import { kopeck } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { verifySignature } from '../helpers/signature.ts';
import { startReceiver, withStatus } from '../helpers/webhook-receiver.ts';
import { commandLineOf } from './command-line.ts';

const { pool, url } = await createDatabase();
const { address } = await startApi({ pool });
const env = { DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder() };
const { run, runJson } = commandLineOf(env, 'webhook');
beforeEach(() => setRate(pool));

const receiver = await startReceiver();
const { partnerId: partner } = await createPartnerWithKeys(pool);
let secret: string;

describe('set, show and rotate', () => {
  test('events beyond those of the contract are chosen, and none by default', async () => {
    await runJson(`set ${partner} --url`, `${receiver.url}/hook`);
    expect(await runJson(`events ${partner} --refunded on`)).toMatchObject({
      extra_events: ['payment.refunded'],
    });
    expect(await runJson(`show ${partner}`)).toMatchObject({ extra_events: ['payment.refunded'] });
    expect(await runJson(`events ${partner} --refunded off`)).toMatchObject({ extra_events: [] });
  });

  test('set gives the secret, and keeps it when the address changes', async () => {
    const first = await runJson(`set ${partner} --url http://127.0.0.1:9/old`);
    expect(first).toMatchObject({ partner_id: partner, state: 'active', waiting: 0, given_up: 0 });
    ({ secret } = first);
    expect(secret).toMatch(/^whsec_/);
    expect(await runJson(`set ${partner} --url ${receiver.url}`)).toMatchObject({
      url: receiver.url,
      secret,
    });
    expect(await runJson(`show ${partner}`)).toMatchObject({ url: receiver.url, secret, old_secret: null });
    const shown = JSON.parse((await kopeck(env, `partner show ${partner} --json`)).stdout);
    const active = { state: 'active', suspended_at: null, waiting: 0, given_up: 0, extra_events: [] };
    expect(shown.webhook).toMatchObject({ url: receiver.url, ...active });
  });

  test.each([
    'ftp://example.com/',
    'https://user:hunter2@example.com/hook',
    'nonsense',
    'http://example.com/hook',
  ])('%s is refused with one line', async address => {
    const refused = await run(`set ${partner} --url ${address}`);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(/^[^\n]+\n$/);
    expect(refused.stderr).not.toContain('hunter2');
  });

  test('in production the SSRF guard refuses private addresses', async () => {
    const { url: otherUrl } = await createDatabase();
    const production = { ...env, NODE_ENV: 'production', SECRET_KEY: 'x'.repeat(32), DATABASE_URL: otherUrl };
    const created = await kopeck(production, 'partner create --name n --json');
    const { partner_id: id } = JSON.parse(created.stdout);
    for (const address of [
      'http://127.0.0.1:9000',
      'https://127.0.0.1',
      'https://localhost',
      'https://10.0.0.1',
    ]) {
      const refused = await kopeck(production, `webhook set ${id} --url ${address}/`);
      expect([address, refused.code]).toEqual([address, 1]);
    }
    const forced = { ...production, WEBHOOK_ALLOW_PRIVATE: 'true' };
    expect((await kopeck(forced, `webhook set ${id} --url https://127.0.0.1/`)).stderr).toContain(
      'WEBHOOK_ALLOW_PRIVATE must not be true in production',
    );
  });

  test('rotate keeps the old one for a day', async () => {
    const rotated = await runJson(`rotate ${partner}`);
    expect(rotated).toMatchObject({ old_secret: secret });
    expect(rotated.secret).not.toBe(secret);
    ({ secret } = rotated);
    const again = await run(`rotate ${partner} --json`);
    expect([again.code, JSON.parse(again.stderr).error.code]).toEqual([1, 'overlap']);
    const audited = 'SELECT action, after::text FROM audit WHERE subject = $1 ORDER BY id';
    const { rows } = await pool.query(audited, [partner]);
    const actions = rows.map(({ action }) => action).slice(-3);
    expect(actions).toEqual(['webhook.set', 'webhook.set', 'webhook.rotate']);
    expect(JSON.stringify(rows)).not.toContain('whsec_');
  });

  test('without a webhook or a partner it names the command to use', async () => {
    const { partnerId } = await createPartnerWithKeys(pool);
    for (const command of ['show', 'check', 'rotate']) {
      const refused = await run(command, partnerId);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('kopeck webhook set')]);
    }
    expect(await run('show prt_nobody')).toMatchObject({ code: 1, stdout: '' });
  });
});

describe('check', () => {
  const results = (check: { results: { passed: boolean }[] }) => check.results.map(({ passed }) => passed);

  test('a receiver that verifies passes all five', async () => {
    receiver.answer((response, { headers, body }) => {
      const header = headers['x-service-signature'] as string;
      withStatus(verifySignature(secret, header, body, Date.now() / 1_000) ? 204 : 401)(response);
    });
    const before = receiver.received.length;
    const check = await runJson(`check ${partner}`);
    expect(check).toMatchObject({ can_receive: true, passed: true, re_enabled: false, tls: null });
    expect(results(check)).toEqual([true, true, true, true, true]);
    const asked = receiver.received.slice(before);
    expect(asked.map(({ headers }) => headers['x-service-test'])).toEqual(Array(5).fill('true'));
    expect(asked.map(({ json }) => json.data.mode)).toEqual(Array(5).fill('test'));
    expect((await run(`check ${partner}`)).stdout).toMatch(/a changed body +reject +401 +\d+ +yes\n/);
  });

  test('a receiver that refuses everything cannot, and its response body is not printed', async () => {
    receiver.answer(response => void response.writeHead(500).end('a secret of the receiver'));
    const refused = await run(`check ${partner}`);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('does not accept valid events');
    expect(refused.stdout).toContain('Valid event: must be accepted, the server answered 500');
    expect(refused.stdout).not.toContain('secret of the receiver');
    receiver.answer(withStatus(200));
  });

  test('suspended sending resumes', async () => {
    await pool.query('UPDATE endpoints SET suspended_at = now()');
    expect(await runJson(`check ${partner}`)).toMatchObject({ re_enabled: true });
    expect(await runJson(`show ${partner}`)).toMatchObject({ state: 'active' });
  });
});

test('log and resend: one event, all that failed permanently, and invalid ids', async () => {
  const customer = await createPartnerWithKeys(pool);
  await run(`set ${customer.partnerId} --url ${receiver.url}`);
  const api = partnerAt(address, customer.testKey);
  await api.pay({ qr_url: newLink(10_000) });
  const [{ id }] = (await api.get('/v1/events')).json.data;
  expect(await runJson(`log ${customer.partnerId}`)).toEqual({ attempts: [] });
  const queued = { event_id: id, partner_id: customer.partnerId, queued: true, suspended: false };
  expect(await runJson(`resend ${id}`)).toMatchObject(queued);
  await pool.query(`UPDATE deliveries SET failed_at = now(), attempts = 9`);
  expect(await runJson(`show ${customer.partnerId}`)).toMatchObject({ waiting: 0, given_up: 1 });
  expect(await runJson('resend --failed --since 2999-01-01')).toEqual({ queued: 0 });
  expect(await runJson('resend --failed --since 2020-01-01T00:00:00Z')).toEqual({ queued: 1 });
  expect(await runJson(`show ${customer.partnerId}`)).toMatchObject({ waiting: 1, given_up: 0 });
  expect(await run('resend evt_999999')).toMatchObject({ code: 1, stdout: '' });
  expect(await run('resend evt_x')).toMatchObject({ code: 1, stdout: '' });
  for (const wrong of ['', ' evt_1 --failed', ' evt_1 --since 2020-01-01', ' --failed --since x'])
    expect((await run(`resend${wrong}`)).code).toBe(2);
});

describe('several endpoints', () => {
  const { run, runJson } = commandLineOf(env);
  let partner: string;
  let testKey: string;
  beforeAll(async () => {
    ({ partnerId: partner, testKey } = await createPartnerWithKeys(pool));
  });

  test('endpoints are added, listed, chosen and removed', async () => {
    const first = await runJson(`webhook set ${partner} --url ${receiver.url}`);
    const add = ['webhook', 'add', partner, '--mode', 'test', '--url', `${receiver.url}/books`];
    const added = await runJson(...add, '--events', 'payment.failed, payment.refunded');
    expect(added).toMatchObject({
      endpoint_id: expect.stringMatching(/^whe_/),
      mode: 'test',
      events: ['payment.failed', 'payment.refunded'],
      standard_secret: added.secret,
    });
    expect(added.secret).not.toBe(first.secret);
    const endpoint = ['--endpoint', added.endpoint_id];
    const { endpoints } = await runJson(`webhook list ${partner}`);
    expect(endpoints.map((one: { url: string }) => one.url)).toEqual([receiver.url, `${receiver.url}/books`]);
    expect((await run(`webhook list ${partner}`)).stdout).toContain('failed, refunded');

    const unclear = await run(`webhook show ${partner}`);
    expect(unclear.code).toBe(1);
    expect(unclear.stderr).toContain('has 2 endpoints. Choose one with --endpoint:');
    expect(unclear.stderr).toContain(added.endpoint_id);
    expect(await runJson(`webhook show ${partner}`, ...endpoint)).toMatchObject({ secret: added.secret });

    const { id } = (await partnerAt(address, testKey).pay({ qr_url: newLink(10_001) })).json;
    expect(id).toMatch(/^pay_/);
    const [event] = (await partnerAt(address, testKey).get('/v1/events')).json.data;
    expect((await run(`webhook resend ${event.id}`)).stderr).toContain('Choose one with --endpoint');
    const { endpoint_id } = added;
    expect(await runJson(`webhook resend ${event.id}`, ...endpoint)).toMatchObject({ endpoint_id });
    const filtered = await runJson(`webhook events ${partner}`, ...endpoint, '--only', 'payment.failed');
    expect(filtered).toMatchObject({ events: ['payment.failed'] });
    expect((await run(`webhook events ${partner}`, ...endpoint, '--only', 'payment.opened')).code).toBe(2);
    expect((await run(`webhook events ${partner}`, ...endpoint)).code).toBe(2);

    const moved = await runJson(`webhook set ${partner}`, ...endpoint, '--url', `${receiver.url}/ledger`);
    expect(moved).toMatchObject({ url: `${receiver.url}/ledger` });
    expect(await runJson(`webhook check ${partner}`, ...endpoint)).toMatchObject({ can_receive: true });
    expect(receiver.received.map(({ path }) => path)).toContain('/hook/ledger');
    expect(await runJson(`webhook remove ${partner}`, ...endpoint)).toMatchObject({ removed: true });
    expect((await run(`webhook remove ${partner}`, ...endpoint)).stderr).toContain('has no endpoint');
    expect(await runJson(`webhook show ${partner}`)).toMatchObject({ secret: first.secret });
  });

  test('the sixth endpoint of a mode is refused', async () => {
    const add = (mode: string) => run(`webhook add ${partner} --mode`, mode, '--url', receiver.url, '--json');
    for (let number = 2; number <= 5; number++) expect((await add('live')).code).toBe(0);
    const sixth = await add('live');
    expect(sixth.code).toBe(1);
    expect(sixth.stdout + sixth.stderr).toContain('too_many_endpoints');
    expect((await add('test')).code).toBe(0);
  });

  test('signing keys are made with the first endpoint that asks, and rotated', async () => {
    const { endpoints } = await runJson(`webhook list ${partner}`);
    const endpoint = ['--endpoint', endpoints[0].endpoint_id];
    expect(await runJson('secret signing-keys')).toMatchObject({ keys: [] });
    const signing = await runJson(`webhook ed25519 ${partner}`, ...endpoint, '--sign', 'on');
    expect(signing).toMatchObject({ ed25519: true });
    const { keys } = await runJson('secret signing-keys');
    expect(keys).toHaveLength(1);
    const rotated = (await runJson('secret signing-keys --rotate')).keys;
    expect(rotated).toHaveLength(2);
    expect(rotated[1]).toEqual(keys[0]);
    const { public_keys } = await runJson(`webhook show ${partner}`, ...endpoint);
    expect(public_keys).toHaveLength(2);
    const times = (of: { signs_from: string }[]) => of.map(({ signs_from }) => Date.parse(signs_from));
    for (const path of public_keys) {
      const published = (await (await fetch(`${address}${path}`)).json()) as { keys: typeof rotated };
      expect(times(published.keys)).toEqual(times(rotated));
    }
  });
});
