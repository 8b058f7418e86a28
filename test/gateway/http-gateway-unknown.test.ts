import type { RequestListener } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startLocalServer } from '../helpers/local-server.ts';
import { callNames, calls, gatewayOpener, token } from './orders.ts';

const bank = await startLocalServer();
const gatewayAt = gatewayOpener();
const gateway = gatewayAt(`${bank.url}/base`);
const hasty = gatewayAt(bank.url, 150);

const fine = { order_id: 'ord_1', state: 'succeeded', reason: null };

describe.each(callNames)('unknown, by %s:', name => {
  const ask = (of = gateway) => calls(of)[name]();
  const unknown = { outcome: 'unknown', why: expect.not.stringContaining(token) };

  test.each([
    ['5xx without the gateway’s own body', 502, '<h1>502</h1>'],
    ['500 with a body', 500, { code: 'INTERNAL' }],
    ['503 with a foreign body', 503, '{"message":"upstream"}'],
    ['500 that looks like an order', 500, fine],
    ['201 that looks like an order', 201, fine],
    ['409 with a foreign code', 409, { code: 'ORDER_MISMATCH' }],
    ['409 without a code', 409, {}],
    ['429 of somebody in between', 429, 'slow down'],
    ['400 with a code of another status', 400, { code: 'QR_CHANGED' }],
    ['409 with a code of another status', 409, { code: 'BUSY' }],
    ['401', 401, { code: 'UNAUTHORIZED' }],
    ['404 of somebody in between', 404, '<h1>404</h1>'],
    ['404 with a foreign code', 404, { code: 'NOT_FOUND' }],
    ['a redirect', 307, fine],
    ['JSON that ends too soon', 200, '{"order_id":"ord_1","state":"succ'],
    ['an empty body', 200, ''],
    ['a list', 200, [fine]],
    ['null', 200, null],
    ['a text', 200, '"succeeded"'],
    ['no order_id', 200, { state: 'succeeded', reason: null }],
    ['an empty order_id', 200, { ...fine, order_id: '' }],
    ['an order_id that is no text', 200, { ...fine, order_id: 7 }],
    ['an order_id that cannot be stored', 200, { ...fine, order_id: 'ord\0' }],
    ['an order_id that is too long', 200, { ...fine, order_id: 'x'.repeat(257) }],
    ['no state', 200, { order_id: 'ord_1' }],
    ['a state that is not in the contract', 200, { ...fine, state: 'pending' }],
    ['a state that is no text', 200, { ...fine, state: ['succeeded'] }],
    ['a body that never ends well', 200, `${JSON.stringify(fine)}${' '.repeat(70_000)}`],
    ['a declined order with a word too many', 200, `${JSON.stringify({ ...fine, state: 'declined' })}x`],
  ])('%s', async (_case, status, body) => {
    bank.answerWith(body, status);
    expect(await ask()).toEqual(unknown);
  });

  test.each([
    ['a long state', { ...fine, state: 'x'.repeat(10_000) }],
    ['a long amount', { ...fine, amount_kopecks: 'x'.repeat(10_000) }],
  ])('%s, of which only the beginning is repeated', async (_case, body) => {
    bank.answerWith(body, 200);
    const { why } = (await ask()) as { why: string };
    expect(why.length).toBeLessThan(300);
  });

  test('a refused connection', async () => {
    expect(await ask(gatewayAt('http://127.0.0.1:1'))).toEqual({ outcome: 'unknown', why: 'ECONNREFUSED' });
  });

  test.each<[string, RequestListener]>([
    ['a connection that breaks before the headers', (_request, response) => response.destroy()],
    [
      'a connection that breaks after the headers',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write(JSON.stringify(fine), () => response.destroy());
      },
    ],
  ])('%s', async (_case, listener) => {
    bank.answer(listener);
    expect(await ask()).toEqual(unknown);
  });

  test('an answer that is not HTTP', async () => {
    const server = createServer((socket: Socket) => socket.end('hello\r\n\r\n')).listen(0, '127.0.0.1');
    await new Promise(resolve => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    expect(await ask(gatewayAt(`http://127.0.0.1:${port}`))).toEqual(unknown);
    server.close();
  });

  test('silence', async () => {
    bank.answer(() => {});
    const startMs = performance.now();
    expect(await ask(hasty)).toEqual(unknown);
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });
});

const otherAmounts = [15_001, 14_999, '15000', null, 0];
test.each(otherAmounts)(
  'an order over another amount (%j) is unknown, whichever call tells of it',
  async amount => {
    for (const state of ['accepted', 'succeeded', 'declined']) {
      bank.answerWith({ ...fine, state, amount_kopecks: amount });
      for (const name of callNames)
        expect(await calls(gateway)[name]()).toMatchObject({ outcome: 'unknown' });
    }
  },
);
