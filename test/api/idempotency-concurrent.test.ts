import { createHash } from 'node:crypto';
import { test as base, describe, expect } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { crc16 } from '../../src/base/qr.ts';
import { type Answer, codeOf, issueKey, newLink, partnerAt, startApi } from '../helpers/api.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';
import { isReplay, startTestModeWorld } from './test-mode-world.ts';

const { pool, clock, address, newPartner, balanceOf } = await startTestModeWorld();
const test = base.extend('partner', () => newPartner());

test('keys never collide between partners and modes, but are one for all keys of a partner and mode', async () => {
  const [partner, other] = [await newPartner(), await newPartner()];
  const body = { qr_url: newLink(10_000) };
  const first = await partner.pay(body, 'shared');
  const theirs = await other.pay({ qr_url: newLink(20_000) }, 'shared');
  expect([codeOf(theirs), isReplay(theirs)]).toEqual(['200 succeeded', false]);
  // There is no gateway here: live mode gets as far as calling it, without a conflict.
  const live = await partnerAt(address, partner.liveKey).pay({ qr_url: newLink(20_000) }, 'shared');
  expect(codeOf(live)).toBe('503 gateway_unavailable');
  const second = partnerAt(address, await issueKey(pool, partner.partnerId, 'test'));
  expect((await second.pay(body, 'shared')).text).toBe(first.text);
});

describe('a repeat while the first is running', async () => {
  const simulator = await openSimulator();
  const newBody = async () => ({ qr_url: (await makeQr(simulator)).link });

  /** A service whose live payments end when the test says so. */
  async function startSlowApi() {
    const slow = await startApi({ pool, clock, gatewayUrl: simulator.address });
    const { writer } = slow.deps;
    const { finish } = writer;
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    writer.finish = async outcome => {
      begun.resolve();
      await gate.promise;
      return finish(outcome);
    };
    return { address: slow.address, begun: begun.promise, letGo: gate.resolve };
  }

  const live = ({ liveKey }: { liveKey: string }) => partnerAt(address, liveKey);

  test.each([
    ['in the same process', true],
    ['in another process', false],
  ])('joins it %s', async (_name, same) => {
    const partner = await newPartner();
    const slow = await startSlowApi();
    const body = await newBody();
    const first = partnerAt(slow.address, partner.liveKey).pay(body, 'join');
    await slow.begun;
    let answered = false;
    const joined = partnerAt(same ? slow.address : address, partner.liveKey)
      .pay(body, 'join')
      .finally(() => {
        answered = true;
      });
    // Another request of the same partner ends before it, so the joined one does wait.
    expect((await live(partner).get('/v1/payments')).json.data[0]).toMatchObject({
      status: 'processing',
      status_detail: 'awaiting_gateway',
    });
    expect(answered).toBe(false);
    slow.letGo();
    const answers = await clock.during(Promise.all([first, joined]));
    expect(answers.map(codeOf)).toEqual(['200 succeeded', '200 succeeded']);
    expect(answers[1].text).toBe(answers[0].text);
  });

  test('with another body is a conflict at once', async ({ partner }) => {
    const slow = await startSlowApi();
    const first = partnerAt(slow.address, partner.liveKey).pay(await newBody(), 'join');
    await slow.begun;
    expect(codeOf(await live(partner).pay(await newBody(), 'join'))).toBe('409 idempotency_conflict');
    slow.letGo();
    await first;
  });

  test.each([
    ['the bank no longer knows the code', { outcome: 'qr_unresolvable' }],
    ['the bank cannot be reached', { outcome: 'gateway_unavailable' }],
  ] as const)(
    'gets its payment, which was opened since the key was looked up, though %s',
    async (_case, answer) => {
      const partner = await newPartner();
      const [first, repeat] = await Promise.all(
        [0, 1].map(() => startApi({ pool, clock, gatewayUrl: simulator.address })),
      );
      const paid = partnerAt(first!.address, partner.liveKey);
      const { json } = await paid.post('/v1/quote', { body: { amount_rub: '150.00', lock: true } });
      // With a locked quote, the key is looked up before the bank is asked, and not again after it.
      const body = { ...(await newBody()), quote_id: json.quote_id };
      const { gateway } = repeat!.deps;
      const answers: Answer[] = [];
      gateway.resolve = async () => {
        answers.push(await paid.pay(body, 'join'));
        return answer;
      };
      answers.push(await partnerAt(repeat!.address, partner.liveKey).pay(body, 'join'));
      expect(answers.map(codeOf)).toEqual(['200 succeeded', '200 succeeded']);
      expect(answers[1]!.text).toBe(answers[0]!.text);
      expect((await live(partner).get('/v1/payments')).json.data).toHaveLength(1);
    },
  );

  test('waits no longer than the first would, and then says processing', async ({ partner }) => {
    const slow = await startSlowApi();
    const body = await newBody();
    const first = partnerAt(slow.address, partner.liveKey).pay(body, 'join');
    await slow.begun;
    clock.advance(5_000);
    expect(codeOf(await live(partner).pay(body, 'join'))).toBe('200 processing');
    slow.letGo();
    await first;
  });
});

/** The service after a restart with these QR_HOSTS. */
const restartedWith = async (...qrHosts: string[]) => (await startApi({ pool, clock, qrHosts })).address;
const swapped = await restartedWith('web.qr.nspk.ru', 'qr.nspk.ru');
const replaced = await restartedWith('qr.example.com');
const details = { amount_rub: '100.00', external_id: 'order', metadata: { b: 2, a: 1 } };

/** A link whose checksum is that of another host, as a link copied from the web form has it. */
function copiedLink(): string {
  const original = `${newLink(10_000)}&crc=`;
  return original.replace('https://qr.', 'https://web.qr.') + crc16(original.replace(/&crc=$/, ''));
}

describe('a repeat after a change of QR_HOSTS', () => {
  test.each([
    ['swapped hosts', swapped, newLink(10_000)],
    ['swapped hosts and a copied link', swapped, copiedLink()],
    ['other hosts', replaced, newLink(10_000)],
    ['other hosts and the link of an app', replaced, newLink(10_000).replace('https', 'bank100000000004')],
  ])('with %s is a replay, and debits once', async (_name, restarted, link) => {
    const partner = await newPartner();
    const body = { qr_url: link, ...details };
    const first = await partner.pay(body, 'same');
    expect(codeOf(first)).toBe('200 succeeded');
    const again = await partnerAt(restarted, partner.testKey).pay(body, 'same');
    expect([codeOf(again), again.json.id, isReplay(again)]).toEqual(['200 succeeded', first.json.id, true]);
    expect((await balanceOf(partner)).settledMicroUsdt).toBe(1_081_082n);
  });

  test('with another form of the link is a replay', async ({ partner }) => {
    const link = newLink(10_000);
    const first = await partner.pay({ qr_url: link.replace('https', 'bank100000000004') }, 'form');
    for (const at of [address, swapped, replaced]) {
      const again = await partnerAt(at, partner.testKey).pay({ qr_url: link }, 'form');
      expect([codeOf(again), again.json.id, isReplay(again)]).toEqual(['200 succeeded', first.json.id, true]);
    }
  });

  test.each([
    ['another code', { qr_url: newLink(10_000) }],
    ['another amount', { amount_rub: '100.01' }],
    ['another order', { external_id: 'other' }],
    ['other metadata', { metadata: { a: 1 } }],
  ])('with %s is a conflict', async (_name, change) => {
    const partner = await newPartner();
    const body = { qr_url: newLink(10_000), ...details };
    await partner.pay(body, 'same');
    for (const restarted of [swapped, replaced]) {
      const other = await partnerAt(restarted, partner.testKey).pay({ ...body, ...change }, 'same');
      expect(codeOf(other)).toBe('409 idempotency_conflict');
    }
  });
});

test.each(['qr.nspk.ru', 'web.qr.nspk.ru', 'qr.gone.example'])(
  '%s is recognised in the link and in the hash of a payment that an earlier version stored',
  async host => {
    const partner = await newPartner();
    const body = { qr_url: newLink(10_000), ...details };
    const first = await partner.pay(body, 'before');
    const url = body.qr_url.replace('qr.nspk.ru', host);
    const meaning = JSON.stringify([url, '10000', 'order', '{"a":1e0,"b":2e0}']);
    await pool.query('UPDATE payments SET qr_url = $2, request_hash = $3 WHERE id = $1', [
      ...[uuidFromId(first.json.id), url, createHash('sha256').update(meaning).digest()],
    ]);
    for (const at of [address, swapped, replaced]) {
      const again = await partnerAt(at, partner.testKey).pay(body, 'before');
      expect([codeOf(again), again.json.id, isReplay(again)]).toEqual(['200 succeeded', first.json.id, true]);
    }
    const other = await partner.pay({ ...body, external_id: 'other' }, 'before');
    expect(codeOf(other)).toBe('409 idempotency_conflict');
  },
);
