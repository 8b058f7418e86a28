import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { planMaintenance, setMaintenance } from '../../src/controls/index.ts';
import { topUp } from '../../src/ledger/index.ts';
import { approveLive, signUp } from '../../src/partners/index.ts';
import { decidePayment } from '../../src/payments/index.ts';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { issueKey, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { startLocalServer } from '../helpers/local-server.ts';
import { keyring } from '../helpers/partners.ts';
import { createBotWorld } from './setup.ts';

const clock = manualClock(new Date().toISOString());
const { pool, sql, telegram, audit, ownerOf } = await createBotWorld({ clock });

const notify = (partnerId: Id<'prt'>, kind: string, count = 1) =>
  pool.query(
    `INSERT INTO partner_notices (partner_id, kind, details, at)
     SELECT $1, $2, jsonb_build_object('event_id', n), now() FROM generate_series(1, $3::int) n`,
    [uuidFromId(partnerId), kind, count],
  );

const sentTo = (
  person: { messages: readonly { text: string; from: { is_bot: boolean } }[] },
  pattern: RegExp,
) => person.messages.filter(({ text, from }) => from.is_bot && pattern.test(text));

const untilAllIsSent = () =>
  expect
    .poll(async () => {
      const rows = await sql`SELECT (SELECT count(*) FROM chat_jobs WHERE task->>'do' <> 'delete')::int
              + (SELECT count(*) FROM partner_notices WHERE sent_at IS NULL)::int AS left`;
      return rows[0].left;
    })
    .toBe(0);

test('a flood of 1 000 notices is one message, and what follows within a minute another', async () => {
  const { owner, partnerId } = await ownerOf('Flood');
  await notify(partnerId, 'delivery_failed', 1_000);
  await owner.reads(/1000 events were not delivered/);
  for (let n = 0; n < 5; n++) await notify(partnerId, 'delivery_failed', 10);
  await notify(partnerId, 'sending_suspended');
  await owner.reads(/Webhooks are suspended/);
  expect(sentTo(owner, /not delivered after/)).toHaveLength(1);
  clock.advance(60_001);
  await owner.reads(/50 events were not delivered/);
  expect(sentTo(owner, /not delivered after/)).toHaveLength(2);
});

test('muted notices are not sent; security notices are', async () => {
  const { owner, partnerId } = await ownerOf('Mute');
  await owner.goes(
    ['⚙️ Settings', /Security/],
    ['🔔 Undelivered events', screen => screen.buttons.flat().includes('🔕 Undelivered events')],
  );
  await notify(partnerId, 'delivery_failed');
  await issueKey(pool, partnerId, 'test');
  await owner.reads(/Another team member created a test key/);
  await untilAllIsSent();
  expect(sentTo(owner, /not delivered after/)).toEqual([]);
});

test('the team reads where its events go when support has changed it', async () => {
  const { owner, partnerId } = await ownerOf('Moved');
  await setWebhook(audit, createVault(keyring), partnerId, 'https://elsewhere.example/hook');
  await owner.reads(/endpoint was added: https:\/\/elsewhere\.example\/hook\. If you did not expect this/);
});

test('retry_after is respected, failures are repeated, and nothing is lost', async () => {
  const { owner, partnerId } = await ownerOf('Storm');
  const scope = { method: 'sendMessage', chatId: owner.account.id };
  telegram.fail({ kind: 'tooManyRequests', retryAfter: 7 }, scope);
  await notify(partnerId, 'sending_suspended');
  const attempts = () =>
    telegram.calls.filter(
      ({ method, values }) =>
        method === 'sendMessage' &&
        /suspended/.test(`${values.text}`) &&
        `${values.chat_id}` === `${owner.account.id}`,
    ).length;
  await expect.poll(attempts).toBe(1);
  const isPostponed = async () =>
    (await pool.query('SELECT FROM chat_jobs WHERE chat_id = $1 AND tries = 1', [owner.account.id])).rowCount;
  await expect.poll(isPostponed).toBe(1);
  clock.advance(6_000);
  // A notice to somebody else arrives: what is due has been sent.
  const calm = await ownerOf('Calm');
  await notify(calm.partnerId, 'sending_suspended');
  await calm.owner.reads(/are suspended/);
  expect(attempts()).toBe(1);
  clock.advance(1_100);
  await owner.reads(/are suspended/);

  telegram.fail({ kind: 'serverError', status: 502 }, scope);
  telegram.fail({ kind: 'disconnect' }, scope);
  await notify(partnerId, 'sending_re_enabled');
  const turning = setInterval(() => clock.advance(1_000), 50);
  await owner.reads(/Webhooks are active again/);
  clearInterval(turning);
});

test('screens survive 429 and 5xx', async () => {
  const { owner } = await ownerOf('Gusts');
  const scope = { chatId: owner.account.id };
  telegram.fail({ kind: 'tooManyRequests', retryAfter: 1 }, scope);
  telegram.fail({ kind: 'serverError', status: 500 }, scope);
  telegram.fail({ kind: 'disconnect' }, scope);
  await owner.goes(['💰 Balance', /Amount per payment/]);
});

test('a user who blocks the bot gets nothing until they unblock it', async () => {
  const { owner, partnerId } = await ownerOf('Silence');
  owner.block();
  const blockedAt = async () =>
    (await sql`SELECT blocked_at AS at FROM chat_users WHERE user_id = ${owner.account.id}`)[0].at;
  await expect.poll(blockedAt).not.toBeNull();
  await pool.query('UPDATE chat_users SET blocked_at = NULL WHERE user_id = $1', [owner.account.id]);
  await notify(partnerId, 'sending_suspended');
  await expect.poll(blockedAt).not.toBeNull();
  await untilAllIsSent();
  owner.unblock();
  await owner.writes('/menu', /Your role/);
  await notify(partnerId, 'sending_re_enabled');
  clock.advance(60_001);
  await owner.reads(/are active again/);
});

test('a credit, maintenance, a stale and a fresh rate: one message per member', async () => {
  const { owner, partnerId } = await ownerOf('News', 'ru');
  await signUp(audit, { userId: BigInt(owner.account.id), name: 'x' }, 'Second of the same');
  await topUp(audit, { partnerId, mode: 'live', reference: 'one', microUsdt: 5_000_000n });
  await owner.reads(/Зачислено: 5,000000 USDT/);
  await planMaintenance(audit, { from: new Date('2026-11-20T22:00Z'), until: new Date('2026-11-20T23:00Z') });
  await owner.reads(/работы с 20.11.2026, 22:00 UTC до 20.11.2026, 23:00 UTC/);
  await setMaintenance(audit, true);
  await owner.reads(/новые платежи пока не принимаются/);
  await setMaintenance(audit, false);
  await owner.reads(/Технические работы завершены/);
  await setRate(pool, clock);
  clock.advance(301_000);
  await owner.reads(/Курс устарел/);
  await setRate(pool, clock);
  await owner.reads(/Курс обновлён/);
  await untilAllIsSent();
  expect(sentTo(owner, /Курс устарел/)).toHaveLength(1);
});

test('a payment that is delayed, and its result', async () => {
  const bank = await startSlowBank();
  const { address } = await startApi({ pool, clock, gatewayUrl: bank, answerWithinMs: 200 });
  await setRate(pool, clock);
  const { owner, partnerId } = await ownerOf('Slow');
  await approveLive(audit, partnerId);
  await topUp(audit, { partnerId, mode: 'live', reference: 'one', microUsdt: 50_000_000n });
  const api = partnerAt(address, await issueKey(pool, partnerId, 'live'));
  const turning = setInterval(() => clock.advance(100), 25);
  const { json: paid } = await api.pay({ qr_url: newLink(18_500), external_id: 'slow-1' });
  clearInterval(turning);
  expect(paid.status).toBe('processing');
  clock.advance(11 * 60_000);
  await owner.reads(new RegExp(`${paid.id} \\(slow-1\\) of 185\\.00 RUB is delayed`));
  await pool.query('UPDATE open_payments SET lease_holder = NULL');
  expect(await decidePayment(audit, paid.id, { outcome: 'failed', reason: 'test' })).toEqual({
    outcome: 'resolved',
  });
  await owner.reads(/has a final status: failed/);
});

/** A bank that accepts every order and never reports its result. */
async function startSlowBank(): Promise<string> {
  const bank = await startLocalServer();
  const order = { order_id: 'o-1', state: 'accepted', reason: null };
  const code = { scenario: 'C2B', recipient: 'Tea', recipient_id: 'tea', amount_kopecks: 18_500 };
  bank.answer(async (request, response) => {
    const { qr_url: link } = ((await json(request).catch(() => ({}))) ?? {}) as { qr_url?: string };
    const qr = { ...code, qrc_id: link && new URL(link).pathname.slice(1), purpose: '', fingerprint: 'f' };
    const answer = request.url!.startsWith('/qr/') ? { ...qr, expires_at: null } : order;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  return bank.url;
}
