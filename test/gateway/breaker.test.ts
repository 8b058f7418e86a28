import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test, vi } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { createHttpGateway } from '../../src/gateway/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { callNames, newRequester, calls as orderCalls, requester } from './orders.ts';

/** A bank side that counts its calls and answers with the status that the test sets. */
let status = 200;
let calls = 0;
const bank = createServer((_request, response) => {
  calls += 1;
  response.writeHead(status).end('{"code":"ORDER_UNKNOWN"}');
});
await new Promise<void>(resolve => bank.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(bank.address() as AddressInfo).port}`;
afterAll(() => bank.close());

function gatewayAt(address: string) {
  const clock = manualClock();
  const onReachable = vi.fn();
  const gateway = createHttpGateway({ url: address, token: undefined, clock, onReachable });
  afterAll(gateway.close);
  const order = { paymentId: newId('pay', clock), amountKopecks: 100n };
  const resolve = async () => (await gateway.resolve('https://qr.nspk.ru/AD1', requester)).outcome;
  return { clock, onReachable, gateway, order, resolve };
}

test('ten calls without an answer open the circuit breaker, and one answer closes it', async () => {
  const { clock, onReachable, gateway, order, resolve } = gatewayAt(url);
  status = 502;
  for (let call = 0; call < 9; call++) await gateway.poll(order);
  expect(onReachable).not.toHaveBeenCalled();
  calls = 0;
  expect([await resolve(), calls]).toEqual(['qr_unresolvable', 1]);
  expect(onReachable.mock.calls).toEqual([[false]]);

  expect([await resolve(), await resolve(), calls]).toEqual([
    'gateway_unavailable',
    'gateway_unavailable',
    1,
  ]);
  clock.advance(2_000);
  // One may try; the others are still refused.
  expect(await Promise.all([resolve(), resolve(), resolve()])).toEqual([
    'qr_unresolvable',
    'gateway_unavailable',
    'gateway_unavailable',
  ]);
  expect(calls).toBe(2);

  status = 404;
  // Polls of unfinished payments always go through, so their success closes it too.
  expect(await gateway.poll(order)).toEqual({ outcome: 'order_unknown' });
  expect(onReachable.mock.calls).toEqual([[false], [true]]);
  expect([await resolve(), calls]).toEqual(['qr_unresolvable', 4]);
});

test('a refusal is an answer', async () => {
  const { gateway, order, onReachable } = gatewayAt(url);
  status = 429;
  for (let call = 0; call < 30; call++) await gateway.poll(order);
  // Reported once, since an earlier process may have reported that the bank side is unreachable.
  expect(onReachable.mock.calls).toEqual([[true]]);
});

test('polls that keep failing do not postpone the next try', async () => {
  const { clock, gateway, order, resolve } = gatewayAt(url);
  status = 502;
  for (let call = 0; call < 10; call++) await gateway.poll(order);
  for (let sec = 0; sec < 2; sec++) {
    clock.advance(1_000);
    await gateway.poll(order);
  }
  calls = 0;
  expect([await resolve(), calls]).toEqual(['qr_unresolvable', 1]);
});

test('without payments it closes by itself once the bank side answers', async () => {
  const clock = manualClock();
  const onReachable = vi.fn();
  const sleepers: (() => void)[] = [];
  const sleep = (_ms: number, signal?: AbortSignal) =>
    new Promise<void>(resolve => {
      sleepers.push(resolve);
      signal?.addEventListener('abort', () => resolve());
    });
  const gateway = createHttpGateway({ url, token: undefined, clock: { ...clock, sleep }, onReachable });
  const wakeAfter = (ms: number) => {
    clock.advance(ms);
    sleepers.pop()!();
    return expect.poll(() => sleepers.length).toBe(1);
  };
  status = 502;
  const order = { paymentId: newId('pay', clock), amountKopecks: 100n };
  for (let call = 0; call < 10; call++) await gateway.poll(order);
  calls = 0;
  // Payments have just been refused, or tried it.
  await wakeAfter(5_000);
  expect(calls).toBe(0);
  await wakeAfter(5_000);
  expect(calls).toBe(1);
  await gateway.resolve('https://qr.nspk.ru/AD1', requester);
  await wakeAfter(5_000);
  expect(calls).toBe(2);
  status = 200;
  clock.advance(5_000);
  sleepers.pop()!();
  await expect.poll(() => onReachable.mock.calls).toEqual([[false], [true]]);
  expect([calls, sleepers.length]).toEqual([3, 0]);
  await gateway.close();
});

test('a refused connection counts too', async () => {
  const { resolve, onReachable } = gatewayAt('http://127.0.0.1:1');
  for (let call = 0; call < 10; call++) await resolve();
  expect(onReachable.mock.calls).toEqual([[false]]);
});

/** A bank side that never answers, and how many calls it got. */
async function startHangingBank() {
  let arrived = 0;
  const server = createServer(() => {
    arrived += 1;
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrived: () => arrived };
}

const qrUrlOf = (index: number) => `https://qr.nspk.ru/AD${index}`;

test('slow QR codes of one partner, and one slow code of many, do not open it for everybody', async () => {
  const hanging = await startHangingBank();
  const onReachable = vi.fn();
  const clock = manualClock();
  const gateway = createHttpGateway({
    url: hanging.url,
    token: undefined,
    clock,
    onReachable,
    resolveTimeoutMs: 50,
  });
  afterAll(gateway.close);
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
  const hanging = await startHangingBank();
  const gateway = createHttpGateway({ url: hanging.url, token: undefined, clock: manualClock() });
  const [greedy, other] = [newRequester(), newRequester()];
  const pending = Array.from({ length: 32 }, (_, index) => gateway.resolve(qrUrlOf(index), greedy));
  await expect.poll(() => hanging.arrived()).toBe(32);
  expect(await gateway.resolve(qrUrlOf(99), greedy)).toEqual({ outcome: 'gateway_busy' });
  pending.push(gateway.resolve(qrUrlOf(99), other));
  await expect.poll(() => hanging.arrived()).toBe(33);

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

async function startBankWithBadCode(fail: (response: ServerResponse) => void) {
  const server = createServer(async (request, response) => {
    const isBad = request.url!.startsWith('/orders/') || (await text(request)).includes(badQr);
    if (isBad) fail(response);
    else response.writeHead(404).end('{}');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

for (const [failure, fail] of Object.entries(failures)) {
  const title = `one partner’s code that gets ${failure} does not open it for everybody`;
  test.each(['resolve', ...callNames] as const)(`${title}: %s`, async call => {
    const { gateway, onReachable } = gatewayAt(await startBankWithBadCode(fail));
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
  status = 502;
  for (let call = 0; call < 10; call++) await resolve();
  // A call about no code fails too.
  await expect.poll(() => onReachable.mock.calls).toEqual([[false]]);
  expect(await resolve()).toBe('gateway_unavailable');
});
