import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openSimulator } from '../helpers/simulator.ts';

const { address, call } = await openSimulator();
const { host, port } = new URL(address);

/** A request as a browser or another client sends it; fetch would set the host itself. */
async function send(method: string, path: string, headers: Record<string, string> | string[]) {
  const outgoing = request(`${address}${path}`, { method, headers });
  outgoing.end(method === 'PUT' || method === 'POST' ? JSON.stringify({ rate: '1.00' }) : undefined);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const isJson = answer.headers['content-type']!.startsWith('application/json');
  const body = isJson ? ((await json(answer)) as { code?: string }) : answer.resume();
  return { status: answer.statusCode, code: 'code' in body ? body.code : undefined };
}

const setRate = (headers: Record<string, string>) => send('PUT', '/sim/rate', headers);
const foreignHost = { status: 403, code: 'FOREIGN_HOST' };
const foreignOrigin = { status: 403, code: 'FOREIGN_ORIGIN' };
const accepted = { status: 200, code: undefined };

test.each([
  'rebound.example',
  `rebound.example:${port}`,
  'localhost.rebound.example',
  '127.0.0.1.rebound.example',
  'user@rebound.example',
  '%',
])('refuses the host %j, to read and to change', async foreign => {
  const before = await call('GET', '/rate');
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/sim/orders'],
    ['GET', '/orders'],
    ['PUT', '/sim/rate'],
    ['PUT', '/orders/one'],
  ] as const)
    expect(await send(method, path, { host: foreign })).toEqual(foreignHost);
  expect((await call('GET', '/rate')).body.rate).toBe(before.body.rate);
});

test('refuses two hosts', async () => {
  expect(await send('GET', '/', ['host', host, 'host', 'rebound.example'])).toEqual(foreignHost);
});

test('refuses requests of pages of another origin', async () => {
  const { rate } = (await call('GET', '/rate')).body;
  for (const headers of [
    { origin: 'http://shop.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { origin: `https://${host}` },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  ])
    for (const [method, path] of [
      ['PUT', '/sim/rate'],
      ['POST', '/sim/qrs'],
      ['DELETE', '/sim/faults'],
      ['POST', '/orders/one/void'],
    ] as const)
      expect(await send(method, path, { host, ...headers })).toEqual(foreignOrigin);
  // A poll may use up a fault, so reading across origins is refused too.
  expect(await send('GET', '/orders/one', { host, 'sec-fetch-site': 'cross-site' })).toEqual(foreignOrigin);
  expect((await call('GET', '/rate')).body.rate).toBe(rate);
});

test('accepts its own page, links to it, and programs', async () => {
  const own = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' };
  for (const name of [host, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`, '192.0.2.7']) {
    expect(await setRate({ host: name })).toEqual(accepted);
    expect(await setRate({ host: name, origin: `http://${name}`, ...own })).toEqual(accepted);
  }
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  expect(await send('GET', '/', { host, ...link })).toEqual(accepted);
});

test('accepts the name that it listens on', async () => {
  const named = await openSimulator({ SIMULATOR_HOST: 'localhost' });
  expect((await named.call('GET', '/rate')).status).toBe(200);
});
