import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readBalances } from '../../src/ledger/index.ts';
import { type Answer, issueKey, newLink, partnerAt, startApi } from '../helpers/api.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';
import { codeOf, isReplay, startIdempotencyWorld } from './idempotency-world.ts';

const { pool, clock, address, newPartner } = await startIdempotencyWorld();

describe('keys never collide', () => {
  test('between two partners', async () => {
    const [first, second] = [await newPartner(), await newPartner()];
    const paid = [
      await first.pay({ qr_url: newLink(10_000) }, 'shared'),
      await second.pay({ qr_url: newLink(20_000) }, 'shared'),
    ];
    expect(paid.map(codeOf)).toEqual(['200 succeeded', '200 succeeded']);
    expect(paid.some(isReplay)).toBe(false);
  });

  test('between test and live', async () => {
    const partner = await newPartner();
    await partner.pay({ qr_url: newLink(10_000) }, 'shared');
    // There is no gateway here: live mode gets as far as calling it, without a conflict.
    const live = await partnerAt(address, partner.liveKey).pay({ qr_url: newLink(20_000) }, 'shared');
    expect(codeOf(live)).toBe('503 gateway_unavailable');
  });

  test('but are one for all keys of a partner and mode', async () => {
    const partner = await newPartner();
    const second = partnerAt(address, await issueKey(pool, partner.partnerId, 'test'));
    const body = { qr_url: newLink(10_000) };
    const first = await partner.pay(body, 'shared');
    expect((await second.pay(body, 'shared')).text).toBe(first.text);
  });
});

describe('at the same time', () => {
  test('50 with one key are one payment', async () => {
    const partner = await newPartner();
    const body = { qr_url: newLink(10_000) };
    const answers = await Promise.all(Array.from({ length: 50 }, () => partner.pay(body, 'crowd')));
    expect(new Set(answers.map(codeOf))).toEqual(new Set(['200 succeeded']));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await partner.get('/v1/payments')).json.data).toHaveLength(1);
    expect((await readBalances(pool, partner.partnerId)).test.settledMicroUsdt).toBe(1_081_082n);
  });

  test('50 with one key and different bodies are one payment and 49 conflicts', async () => {
    const partner = await newPartner();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => partner.pay({ qr_url: newLink(10_000) }, 'crowd')),
    );
    const codes = answers.map(codeOf).sort();
    expect(codes).toEqual(['200 succeeded', ...Array(49).fill('409 idempotency_conflict')]);
    expect((await partner.get('/v1/payments')).json.data).toHaveLength(1);
  });

  test('50 with keys of their own and one code under way are one payment and 49 duplicates', async () => {
    const partner = await newPartner();
    const body = { qr_url: newLink(10_002) };
    const answers = await Promise.all(Array.from({ length: 50 }, () => partner.pay(body, randomUUID())));
    const codes = answers.map(codeOf).sort();
    expect(codes).toEqual(['200 processing', ...Array(49).fill('409 duplicate_qr_in_flight')]);
  });
});

describe('a repeat while the first is running', async () => {
  const simulator = await startSimulator();
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

  test('with another body is a conflict at once', async () => {
    const partner = await newPartner();
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

  test('waits no longer than the first would, and then says processing', async () => {
    const partner = await newPartner();
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
