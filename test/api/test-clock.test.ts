import { randomUUID } from 'node:crypto';
import { afterAll, test as base, beforeEach, describe, expect } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { startRecovery } from '../../src/payments/index.ts';
import { startDelivery } from '../../src/webhooks/delivery/worker.ts';
import { createSender, createVault, listAttempts, setWebhook } from '../../src/webhooks/index.ts';
import { codeOf, expectMalformed, keyring, newLink, setRate, startApi } from '../helpers/api.ts';
import { endOfTime } from '../helpers/clock.ts';
import { auditContextOf, createTimedDatabase } from '../helpers/database.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';
import { startReceiver, withStatus } from '../helpers/webhook-receiver.ts';

const { pool, clock } = await createTimedDatabase();
const simulator = await openSimulator();
const api = await startApi({ pool, clock, gatewayUrl: simulator.address, answerWithinMs: 0 });
const { deps } = api;
const vault = createVault(keyring);
const sender = createSender({ clock, allowPrivate: true, timeoutMs: 10_000 });
const delivery = startDelivery({ ...deps, vault, sender, webhookRetryScheduleSec: [0, 10, 30, 120] });
const recovery = startRecovery(deps);
afterAll(async () => {
  await recovery.stop();
  await clock.during(delivery.stop());
  await sender.close();
  expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
});
beforeEach(() => setRate(pool, clock));

async function newPartner() {
  const partner = await api.newPartner();
  const advance = (advance_sec: number) => partner.post('/v1/test/clock', { body: { advance_sec } });
  const statusOf = async (id: string) => (await partner.get(`/v1/payments/${id}`)).json.status;
  const until = (id: string, status: string) =>
    clock.until(async () => expect(await statusOf(id)).toBe(status));
  return { ...partner, advance, statusOf, until };
}
/** What is due would have been done. */
const quietly = () => clock.rounds(5);
const waitOf = async (id: `pay_${string}`) =>
  (await pool.query('SELECT next_at FROM open_payments WHERE payment_id = $1', [uuidFromId(id)])).rows[0]
    .next_at;
const test = base.extend('partner', () => newPartner());

describe('the test clock', () => {
  test('is the sum of its moves, and of one partner', async () => {
    const [partner, other] = [await newPartner(), await newPartner()];
    const { json: clockNow } = await partner.get('/v1/test/clock');
    expect(clockNow).toMatchObject({ object: 'test_clock', advanced_sec: 0 });
    expect((await partner.advance(30)).json.advanced_sec).toBe(30);
    const { id } = (await partner.pay({ qr_url: newLink(10_002) })).json;
    const before = await waitOf(id);
    await Promise.all([partner.advance(1), partner.advance(2), partner.advance(20)]);
    expect(before - (await waitOf(id))).toBe(23_000);
    await partner.advance(604_800);
    expect((await partner.get('/v1/test/clock')).json.advanced_sec).toBe(604_853);
    expect((await other.get('/v1/test/clock')).json.advanced_sec).toBe(0);
  });

  test('brings the outcome of ,02 after its 30 seconds and no sooner, its timestamps unchanged, and ends a review', async () => {
    const [partner, other] = [await newPartner(), await newPartner()];
    const { json } = await partner.pay({ qr_url: newLink(10_002) });
    const theirs = (await other.pay({ qr_url: newLink(10_002) })).json;
    const metadata = { kopeck_scenario: 'review_fails' };
    const reviewed = (await partner.pay({ qr_url: newLink(10_000), metadata })).json;
    await partner.advance(29);
    await quietly();
    expect(await partner.statusOf(json.id)).toBe('processing');
    await partner.advance(1);
    await partner.until(json.id, 'succeeded');
    const ended = (await partner.get(`/v1/payments/${json.id}`)).json;
    expect(ended).toMatchObject({ created_at: json.created_at, settled_at: json.created_at });
    expect(await other.statusOf(theirs.id)).toBe('processing');
    // Longer waits, such as two hours, end with it too.
    await partner.advance(7_200);
    await partner.until(reviewed.id, 'failed');
  });

  test('shortens the pause before the next attempt, and releases held-back events', async ({ partner }) => {
    const receiver = await startReceiver();
    await setWebhook(auditContextOf(pool, clock), vault, partner.partnerId, receiver.url);
    receiver.answer(withStatus(500));
    await partner.pay({ qr_url: newLink(10_000) });
    const attempts = (count: number) =>
      clock.until(async () => expect(await listAttempts(pool, partner.partnerId, 9)).toHaveLength(count));
    await attempts(1);
    await partner.advance(9);
    await quietly();
    await attempts(1);
    await partner.advance(1);
    await attempts(2);
    receiver.answer(withStatus(200));
    await partner.advance(30);
    await attempts(3);
    const metadata = { kopeck_scenario: 'webhooks_out_of_order' };
    await partner.pay({ qr_url: newLink(10_000), metadata });
    await quietly();
    expect(receiver.received).toHaveLength(3);
    await partner.advance(30);
    await attempts(4);
  });

  test('live rows stay where they are', async ({ partner }) => {
    const { live } = partner;
    const receiver = await startReceiver();
    await setWebhook(auditContextOf(pool, clock), vault, partner.partnerId, receiver.url);
    receiver.answer(withStatus(500));
    const paid = await makeQr(simulator);
    await live.pay({ qr_url: paid.link });
    await clock.until(async () => expect(await listAttempts(pool, partner.partnerId, 9)).toHaveLength(1));
    const open = await makeQr(simulator);
    await open.fault({ on: 'pay', kind: 'finish_later', ms: 3_600_000, outcome: 'succeeded' });
    const { id } = (await live.pay({ qr_url: open.link }, randomUUID())).json;
    const due = 'SELECT next_at, attempts FROM deliveries WHERE partner_id = $1';
    const rows = async () => ({
      look: await waitOf(id),
      next: (await pool.query(due, [uuidFromId(partner.partnerId)])).rows,
    });
    const before = await rows();
    expect(before.look.getTime()).toBeGreaterThan(clock.nowMs());
    await partner.advance(604_800);
    expect(await rows()).toEqual(before);
  });

  test('is not for live keys', async ({ partner }) => {
    for (const answer of [
      await partner.live.get('/v1/test/clock'),
      await partner.live.post('/v1/test/clock', { body: { advance_sec: 1 } }),
    ])
      expect(codeOf(answer)).toBe('403 test_key_required');
    expect((await partner.get('/v1/test/clock')).json.advanced_sec).toBe(0);
  });

  test.each([0, 604_801, 1.5, '30', undefined])('does not move by %j', async advance_sec => {
    expectMalformed(await (await newPartner()).advance(advance_sec as number), 'body', 'advance_sec');
  });
});
