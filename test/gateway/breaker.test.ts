import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test, vi } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { createHttpGateway } from '../../src/gateway/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { startLocalServer } from '../helpers/local-server.ts';
import { callNames, newRequester, calls as orderCalls, requester } from './orders.ts';

/** A bank side that answers with the status that the test sets. */
const bank = await startLocalServer();
const { url } = bank;
const answerWith = (status: number) => bank.answerWith({ code: 'ORDER_UNKNOWN' }, status);

function gatewayAt(address: string, resolveTimeoutMs = 5_000) {
  const clock = manualClock();
  const onReachable = vi.fn();
  const gateway = createHttpGateway({ url: address, token: undefined, clock, onReachable, resolveTimeoutMs });
  afterAll(gateway.close);
  const order = { paymentId: newId('pay', clock), amountKopecks: 100n };
  const resolve = async () => (await gateway.resolve('https://qr.nspk.ru/AD1', requester)).outcome;
  return { clock, onReachable, gateway, order, resolve };
}

test('ten calls without an answer open the circuit breaker, and one answer closes it', async () => {
  const { clock, onReachable, gateway, order, resolve } = gatewayAt(url);
  answerWith(502);
  for (let call = 0; call < 9; call++) await gateway.poll(order);
  expect(onReachable).not.toHaveBeenCalled();
  answerWith(502);
  expect([await resolve(), bank.requests.length]).toEqual(['qr_unresolvable', 1]);
  expect(onReachable.mock.calls).toEqual([[false]]);

  const [asked, unavailable] = ['qr_unresolvable', 'gateway_unavailable'];
  expect([await resolve(), await resolve(), bank.requests.length]).toEqual([unavailable, unavailable, 1]);
  clock.advance(2_000);
  // One may try; the others are still refused.
  const tries = await Promise.all([resolve(), resolve(), resolve()]);
  expect(tries).toEqual([asked, unavailable, unavailable]);
  expect(bank.requests).toHaveLength(2);

  answerWith(404);
  // Polls of unfinished payments always go through, so their success closes it too.
  expect(await gateway.poll(order)).toEqual({ outcome: 'order_unknown' });
  expect(onReachable.mock.calls).toEqual([[false], [true]]);
  expect([await resolve(), bank.requests.length]).toEqual(['qr_unresolvable', 2]);
});

test('a refusal is an answer', async () => {
  const { gateway, order, onReachable } = gatewayAt(url);
  answerWith(429);
  for (let call = 0; call < 30; call++) await gateway.poll(order);
  // Reported once, since an earlier process may have reported that the bank side is unreachable.
  expect(onReachable.mock.calls).toEqual([[true]]);
});

test('polls that keep failing do not postpone the next try', async () => {
  const { clock, gateway, order, resolve } = gatewayAt(url);
  answerWith(502);
  for (let call = 0; call < 10; call++) await gateway.poll(order);
  for (let sec = 0; sec < 2; sec++) {
    clock.advance(1_000);
    await gateway.poll(order);
  }
  answerWith(502);
  expect([await resolve(), bank.requests.length]).toEqual(['qr_unresolvable', 1]);
});

test('without payments it closes by itself once the bank side answers', async () => {
  const { clock, gateway, order, onReachable, resolve } = gatewayAt(url);
  answerWith(502);
  for (let call = 0; call < 10; call++) await gateway.poll(order);
  answerWith(502);
  const pause = async () => {
    await clock.asleep(5_000);
    await clock.advance(5_000);
  };
  // Payments have just been refused, or tried it.
  await pause();
  expect(bank.requests).toHaveLength(0);
  await pause();
  await clock.asleep(5_000);
  expect(bank.requests).toHaveLength(1);
  await resolve();
  await pause();
  await clock.asleep(5_000);
  expect(bank.requests).toHaveLength(2);
  answerWith(200);
  await pause();
  await clock.until(() => expect(onReachable.mock.calls).toEqual([[false], [true]]));
  await clock.advance(60_000);
  expect(bank.requests).toHaveLength(1);
});

test('a refused connection counts too', async () => {
  const { resolve, onReachable } = gatewayAt('http://127.0.0.1:1');
  for (let call = 0; call < 10; call++) await resolve();
  expect(onReachable.mock.calls).toEqual([[false]]);
});

const qrUrlOf = (index: number) => `https://qr.nspk.ru/AD${index}`;

test('slow QR codes of one partner, and one slow code of many, do not open it for everybody', async () => {
  bank.answer(() => {});
  const { clock, gateway, onReachable } = gatewayAt(url, 50);
  const [one, other] = [newRequester(), newRequester()];
  const ask = (from: typeof one, count: number, qr: (index: number) => string) =>
    clock.during(Promise.all(Array.from({ length: count }, (_, index) => gateway.resolve(qr(index), from))));

  clock.advance(5_000);
  await ask(one, 20, () => qrUrlOf(0));
  await ask(one, 20, qrUrlOf);
  expect(onReachable).not.toHaveBeenCalled();
  // Several codes of several partners, and nobody got an answer for some seconds: the bank side itself is slow.
  await ask(other, 1, () => qrUrlOf(0));
  expect(onReachable.mock.calls).toEqual([[false]]);
});

test('one partner’s slow QR codes take only its own share of the calls', async () => {
  bank.answer(() => {});
  // A gateway of an earlier test may still check whether the bank side answers.
  const resolved = () => bank.requests.filter(({ url: path }) => path === '/qr/resolve').length;
  const { gateway } = gatewayAt(url);
  const [greedy, other] = [newRequester(), newRequester()];
  const pending = Array.from({ length: 32 }, (_, index) => gateway.resolve(qrUrlOf(index), greedy));
  await expect.poll(resolved).toBe(32);
  expect(await gateway.resolve(qrUrlOf(99), greedy)).toEqual({ outcome: 'gateway_busy' });
  pending.push(gateway.resolve(qrUrlOf(99), other));
  await expect.poll(resolved).toBe(33);

  // A place is free again when its call has ended, also without an answer.
  await gateway.close();
  await Promise.all(pending);
  expect(await gateway.resolve(qrUrlOf(1), greedy)).toEqual({ outcome: 'gateway_unavailable' });
});

/** A bank side that fails for one QR code or its orders, in one of these ways, and answers everything else. */
const failures = {
  'an error': (response: ServerResponse) => response.writeHead(500).end('{}'),
  'a closed connection': (response: ServerResponse) => response.destroy(),
};
const badQr = qrUrlOf(0);

for (const [failure, fail] of Object.entries(failures)) {
  const title = `one partner’s code that gets ${failure} does not open it for everybody`;
  test.each(['resolve', ...callNames] as const)(`${title}: %s`, async call => {
    bank.answer(async (request, response) => {
      const isBad = request.url!.startsWith('/orders/') || (await text(request)).includes(badQr);
      if (isBad) fail(response);
      else response.writeHead(404).end('{}');
    });
    const { gateway, onReachable } = gatewayAt(url);
    const greedy = newRequester();
    const asks = { resolve: () => gateway.resolve(badQr, greedy), ...orderCalls(gateway) };
    for (let burst = 0; burst < 3; burst++) {
      await Promise.all(Array.from({ length: 18 }, () => asks[call]()));
      expect(await gateway.resolve(qrUrlOf(1), newRequester())).toEqual({ outcome: 'qr_unresolvable' });
    }
    expect(onReachable).not.toHaveBeenCalledWith(false);
  });
}

test('a bank side that fails in every call opens it, even if only one partner asks about one code', async () => {
  const { resolve, onReachable } = gatewayAt(url);
  answerWith(502);
  for (let call = 0; call < 10; call++) await resolve();
  // A call about no code fails too.
  await expect.poll(() => onReachable.mock.calls).toEqual([[false]]);
  expect(await resolve()).toBe('gateway_unavailable');
});
