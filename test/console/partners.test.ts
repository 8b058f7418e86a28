import { test as base, describe, expect } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { rollKey, signUp } from '../../src/partners/index.ts';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { keyring, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { answers, startConsole } from '../helpers/console.ts';
import { createDatabase, createFundedPartner, createPartnerWithKeys, issueKey } from '../helpers/database.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';

const { pool, sql, audit } = await createDatabase();
const { address, signIn } = await startConsole({ pool });
const [support, finance] = [await signIn('support'), await signIn('finance')];
await setRate(pool);

const done = { outcome: 'done' };
const lastAudit = async (subject: string) =>
  (await sql`SELECT actor, action, before, after FROM audit WHERE subject = ${subject} ORDER BY id DESC`)[0];
const test = base.extend('id', () => createFundedPartner(pool, 5n));

describe('the list', () => {
  test('finds by a part of the name and by id, newest first, page by page', async () => {
    const names = ['Finding one', 'Finding TWO', 'finding 3'];
    const ids: string[] = [];
    for (const name of names) ids.unshift((await support.post('/partners', { name })).json.partner_id);
    const first = await support.get('/partners?q=FINDING&limit=2');
    expect(first.json.data.map((row: { partner_id: string }) => row.partner_id)).toEqual(ids.slice(0, 2));
    expect(first.json.data[0]).toMatchObject({
      name: 'finding 3',
      state: 'active',
      live: 'approved',
      live_balance: { available_usdt: '0.000000' },
      webhook_state: 'none',
    });
    const second = await support.get(`/partners?q=finding&limit=2&after=${first.json.next_cursor}`);
    expect(second.json).toMatchObject({ data: [{ partner_id: ids[2] }], next_cursor: null });
    expect((await support.get(`/partners?q=${ids[1]}`)).json.data).toMatchObject([{ name: 'Finding TWO' }]);
    expect((await support.get('/partners?q=nobody%25_')).json).toEqual({ data: [], next_cursor: null });
    expect(await lastAudit(ids[0]!)).toMatchObject({
      actor: `operator:${support.name}`,
      action: 'partner.create',
    });
  });

  test('an unreadable name is refused', async () => {
    await answers('400 invalid_request', support.post('/partners', { name: ' ' }));
    await answers(422, support.post('/partners', { name: 5 }));
    await answers('404 not_found', support.get('/partners/prt_nobody'));
  });
});

describe('a partner', () => {
  test('is suspended and resumed, with audit records', async ({ id }) => {
    const suspend = (reason?: unknown) => support.post(`/partners/${id}/suspend`, { reason });
    await answers(422, suspend());
    for (const wrong of ['', ' ', 'two\nlines', 'x'.repeat(129), 5])
      await answers(422, suspend(wrong), `${wrong}`);
    expect((await support.get(`/partners/${id}`)).json.partner.state).toBe('active');
    expect((await suspend(' asked for by the partner ')).json).toEqual(done);
    expect((await support.get(`/partners/${id}`)).json.partner.state).toBe('suspended');
    expect(await lastAudit(id)).toMatchObject({
      actor: `operator:${support.name}`,
      action: 'partner.suspend',
      after: { suspended: true, reason: 'asked for by the partner' },
    });
    await suspend('again');
    await support.post(`/partners/${id}/resume`);
    expect((await support.get(`/partners/${id}`)).json.partner.state).toBe('active');
    const changes = await sql`SELECT before->>'suspended' AS before, after->>'suspended' AS after
                                FROM audit WHERE subject = ${id} AND after ? 'suspended' ORDER BY id`;
    expect(changes).toEqual([
      { before: 'false', after: 'true' },
      { before: 'true', after: 'false' },
    ]);
    for (const unknown of ['prt_nobody', 'prt_01h00000000000000000000000'])
      await answers('404 not_found', support.post(`/partners/${unknown}/suspend`, { reason: 'none' }));
  });

  test('that signed up is pending, is refused, and is approved later', async () => {
    const signed = await signUp(audit, { userId: 77n, name: 'Anna' }, 'Signed up');
    if (signed.outcome !== 'signed_up') throw new Error(signed.outcome);
    const id = signed.partner.partnerId;
    const live = async () => (await finance.get(`/partners/${id}`)).json.partner.live;
    expect(await live()).toBe('asked');
    expect((await finance.get('/overview')).json.partners_to_approve).toBe(1);
    await finance.post(`/partners/${id}/refuse`);
    expect(await live()).toBe('not_approved');
    await finance.post(`/partners/${id}/approve`);
    expect(await live()).toBe('approved');
    expect(await lastAudit(id)).toMatchObject({ action: 'partner.approve' });
    await answers('409 already_approved', finance.post(`/partners/${id}/approve`));
    expect((await finance.get(`/partners/${id}`)).json.members).toMatchObject([
      { name: 'Anna', role: 'owner' },
    ]);
  });

  test('gets new limits only if the operator saw the current ones', async ({ id }) => {
    const { limits } = (await finance.get(`/partners/${id}`)).json;
    const change = (changes: object, expected = limits) =>
      finance.post(`/partners/${id}/limits`, { limits: { ...limits, ...changes }, expected });
    expect((await change({ max_rub: '200000.00', daily_rub: '1000000' })).json).toEqual(done);
    await answers('409 stale', change({ max_rub: '300000.00' }));
    const now = (await finance.get(`/partners/${id}`)).json.limits;
    expect(now).toEqual({ ...limits, max_rub: '200000.00', daily_rub: '1000000.00' });
    expect(await lastAudit(id)).toMatchObject({
      action: 'partner.limits',
      before: { maxKopecks: '10000000', dailyKopecks: null },
      after: { maxKopecks: '20000000', dailyKopecks: '100000000' },
    });
    await answers('400 min_above_max', change({ min_rub: '200000.01' }, now));
    await answers('400 invalid_request', change({ min_rub: '0' }, now));
    await answers(422, change({ concurrent: 0 }, now));
    await answers(422, change({ min_rub: '-5' }, now));
    await answers(422, change({ more: 1 }, now));
    expect(
      await sql`SELECT count(*)::int AS changes FROM audit WHERE subject = ${id} AND action = 'partner.limits'`,
    ).toEqual([{ changes: 1 }]);
  });

  test('of two concurrent changes of the limits, one is refused', async ({ id }) => {
    const { limits } = (await finance.get(`/partners/${id}`)).json;
    const given = await Promise.all(
      [3, 4].map(concurrent =>
        finance.post(`/partners/${id}/limits`, { limits: { ...limits, concurrent }, expected: limits }),
      ),
    );
    expect(given.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});

describe('a key', () => {
  test('shows its rights, its expiry and the key that it was rolled to, never the key itself', async () => {
    const { partnerId } = await createPartnerWithKeys(pool);
    const rights = { scopes: ['pay' as const], maxKopecks: 50_000n, dailyKopecks: null };
    const key = await issueKey(pool, partnerId, 'live', [], { rights, label: 'Till 4' });
    const rolled = await rollKey(audit, keyring, key.split('_')[2]!, 0);
    const { keys } = (await support.get(`/partners/${partnerId}`)).json;
    const shown = { label: 'Till 4', scopes: ['pay'], max_payment_rub: '500.00', max_day_rub: null };
    const { apiKey } = rolled as typeof rolled & { outcome: 'rolled' };
    expect(keys.slice(2)).toMatchObject([
      { ...shown, state: 'expired', rolled_to: apiKey.keyId, expires_at: expect.any(String) },
      { ...shown, state: 'active', rolled_to: null, expires_at: null },
    ]);
  });

  test('is never shown, can be limited to addresses, and revoked', async () => {
    const { partnerId, testKey } = await createPartnerWithKeys(pool);
    const { keys } = (await support.get(`/partners/${partnerId}`)).json;
    expect(keys).toHaveLength(2);
    expect(JSON.stringify(keys)).not.toContain(testKey.slice(-48));
    const { key_id } = keys.find(({ mode }: { mode: string }) => mode === 'test');
    const partner = partnerAt(address, testKey);
    await answers(200, partner.get('/v1/ping'));

    const allow = (allowed_addresses: string[]) =>
      support.post(`/keys/${key_id}/addresses`, { allowed_addresses });
    expect((await allow(['192.0.2.0/24'])).json).toEqual(done);
    expect(await lastAudit(key_id)).toMatchObject({ action: 'key.allow' });
    await expect.poll(async () => (await partner.get('/v1/ping')).status).toBe(403);
    await answers('400 invalid_request', allow(['somewhere']));
    await allow([]);
    await expect.poll(async () => (await partner.get('/v1/ping')).status).toBe(200);

    expect((await support.post(`/keys/${key_id}/revoke`)).json).toEqual(done);
    expect(await lastAudit(key_id)).toMatchObject({
      action: 'key.revoke',
      actor: `operator:${support.name}`,
    });
    await answers('409 already_revoked', support.post(`/keys/${key_id}/revoke`));
    await answers('409 already_revoked', allow([]));
    await answers('404 not_found', support.post('/keys/none/revoke'));
    await expect.poll(async () => (await partner.get('/v1/ping')).status).toBe(401);
  });
});

describe('contacts and notes', () => {
  test('are kept for operators, on the audit log, and of two changes at once the second is refused', async () => {
    const { partnerId } = await createPartnerWithKeys(pool);
    const read = async () => (await support.get(`/partners/${partnerId}`)).json.contacts;
    const change = (body: object) =>
      support.post(`/partners/${partnerId}/contacts`, { contacts: '', notes: '', version: 0, ...body });
    expect(await read()).toEqual({ contacts: '', notes: '', version: 0 });
    const first = {
      contacts: 'Accounting, +7 495 000-00-00\nsupport@shop.example',
      notes: 'Invoices on Mondays',
    };
    expect((await change(first)).json).toEqual({ outcome: 'done' });
    expect(await read()).toEqual({ ...first, version: 1 });
    expect(await lastAudit(partnerId)).toMatchObject({
      action: 'partner.contacts',
      before: { contacts: '', notes: '' },
      after: first,
    });
    await answers('409 stale', change({ notes: 'Other' }));
    await answers(200, change({ version: 1, notes: 'Other' }));
    expect(await read()).toEqual({ contacts: '', notes: 'Other', version: 2 });
    await answers('400 invalid_request', change({ version: 2, notes: '\u001b[31m' }));
    await answers(422, change({ version: 2, notes: 'a\0b' }));
    await answers(422, change({ version: 2, notes: 'x'.repeat(2_001) }));
    await answers(404, support.post('/partners/prt_x/contacts', { ...first, version: 0 }));
  });
});

describe('a webhook', () => {
  test('is checked, its attempts are listed, and an event is sent again', async () => {
    const { partnerId, testKey } = await createPartnerWithKeys(pool);
    await answers('409 no_webhook', support.post(`/partners/${partnerId}/webhook/check`));
    const receiver = await startReceiver();
    await setWebhook(audit, createVault(keyring), partnerId, receiver.url);
    const check = await support.post(`/partners/${partnerId}/webhook/check`);
    // It accepts everything, also what it should refuse.
    expect(check.json).toMatchObject({ can_receive: true, passed: false, re_enabled: false });
    expect(check.json.results).toHaveLength(5);
    expect(check.json.results[0]).toMatchObject({ answered: '200', passed: true, problem: null });
    expect(check.json.results[2]).toMatchObject({ answered: '200', passed: false, problem: 'accepted' });
    expect(await lastAudit(partnerId)).toMatchObject({ action: 'webhook.check', after: { passed: false } });

    const { json: payment } = await partnerAt(address, testKey).pay({ qr_url: newLink(10_000) });
    const rows = await sql`SELECT id FROM events WHERE partner_id = ${uuidFromId(partnerId)}`;
    const eventId = rows[0].id;
    for (const attempt of [1, 2, 3])
      await pool.query(
        `INSERT INTO webhook_attempts (endpoint_id, partner_id, event_id, attempt, at, status, duration_ms)
         VALUES ($1, $1, $2, $3, now(), 500, 7)`,
        [uuidFromId(partnerId), eventId, attempt],
      );
    const page = await support.get(`/partners/${partnerId}/deliveries?limit=2`);
    expect(page.json.data).toMatchObject([
      { attempt: 3, payment_id: payment.id, status: 500 },
      { attempt: 2 },
    ]);
    const rest = await support.get(
      `/partners/${partnerId}/deliveries?limit=2&after=${page.json.next_cursor}`,
    );
    expect(rest.json).toMatchObject({
      data: [{ attempt: 1, event_id: `evt_${eventId}` }],
      next_cursor: null,
    });

    await pool.query('DELETE FROM deliveries');
    expect((await support.post(`/events/evt_${eventId}/resend`)).json).toEqual(done);
    expect(await sql`SELECT event_id FROM deliveries`).toEqual([{ event_id: eventId }]);
    await answers('404 not_found', support.post('/events/evt_999999/resend'));
    expect((await support.get(`/partners/${partnerId}`)).json.endpoints).toMatchObject([
      { url: receiver.url, state: 'active', waiting: 1, mode: null },
    ]);
  });
});

describe('a credit', () => {
  const credit = (id: Id<'prt'>, usdt: string, reference: string) =>
    finance.post(`/partners/${id}/credit`, { mode: 'live', usdt, reference });
  const available = async (id: Id<'prt'>) =>
    (await finance.get(`/partners/${id}`)).json.balances.live.available_usdt;

  test('up to the threshold is made at once, once per reference', async () => {
    const id = await createFundedPartner(pool, 0n);
    expect((await credit(id, '1000', 'bank-1')).json).toEqual(done);
    await answers('409 already_credited', credit(id, '1000', 'bank-1'));
    expect(await available(id)).toBe('1000.000000');
    await answers('409 reference_conflict', credit(id, '998', 'bank-1'));
    await answers('400 invalid_request', credit(id, '0', 'bank-2'));
    await answers(422, credit(id, '1e3', 'bank-2'));
    expect(await lastAudit(id)).toMatchObject({
      actor: `operator:${finance.name}`,
      action: 'balance.credit',
      before: { mode: 'live', balance_usdt: '0.000000' },
      after: { mode: 'live', balance_usdt: '1000.000000', reference: 'bank-1', usdt: '1000.000000' },
    });
    const records = await sql`SELECT FROM audit WHERE subject = ${id} AND action = 'balance.credit'`;
    expect(records).toHaveLength(1);
  });

  test('above it waits for a second operator, and is shown with the partner', async () => {
    const id = await createFundedPartner(pool, 0n);
    expect((await credit(id, '5000', 'large')).json).toMatchObject({
      outcome: 'waiting',
      request: { kind: 'credit', may_decide: false, is_own: true },
    });
    expect(await available(id)).toBe('0.000000');
    const other = await signIn('finance');
    const [request] = (await other.get(`/partners/${id}`)).json.requests;
    expect(request).toMatchObject({ amount_usdt: '5000.000000', may_decide: true });
    expect((await other.get('/overview')).json.requests_waiting).toBe(1);
    await other.post(`/requests/${request.request_id}/approve`);
    expect(await available(id)).toBe('5000.000000');
  });
});
