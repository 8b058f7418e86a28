import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { crc16 } from '../../simulator/qr.ts';
import { makeQr, nextPaymentId, openSimulator } from '../helpers/simulator.ts';

const simulator = await openSimulator({ SIMULATOR_RATE: '91.10' });
const { address, call } = simulator;
const badRequest = { status: 400, body: { code: 'BAD_REQUEST', message: expect.any(String) } };

test.each([
  'AD100004BAL7227F9BNP6KNE007J9B3K?type=02&bank=100000000007&sum=1&cur=RUB&crc=AB75',
  'AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=30510&cur=RUB&crc=B754',
  'AS100074QCPTCVTO8JM9NO8IDAIQPHPB?type=01&bank=100000000061&sum=1000&cur=RUB&crc=2FF3',
  'AS1R004PRL5RNGBA9ARPLJLTDO94S3J9?type=01&bank=100000000061&crc=5D90',
  'BS1A0027K1JB2RU59BCA05OBBJPMIP2T?type=01&bank=100000000004&crc=A7E6',
  'AS100001ORTF4GAF80KPJ53K186D9A3G?type=01&bank=100000000007&crc=0C8A',
])('the checksum of %s', link => {
  const [before, crc] = `https://qr.nspk.ru/${link}`.split('&crc=');
  expect(crc16(before!)).toBe(crc);
});

test('the check value of the checksum', () => expect(crc16('123456789')).toBe('29B1'));

test.each([
  ['C2B', 100, {}, /^AD1.*\?type=02&bank=\d{12}&sum=100&cur=RUB&crc=/],
  ['C2B', 100, { reusable: true }, /^AS1.*\?type=01&bank=\d{12}&sum=100&cur=RUB&crc=/],
  ['C2B_CASH_REGISTER', 100, {}, /^AS1.*\?type=01&bank=\d{12}&crc=/],
  ['C2B_CASH_REGISTER', null, {}, /^AS1.*\?type=01&bank=\d{12}&crc=/],
  ['C2B_OPEN_SUM', null, {}, /^AS1.*\?type=01&bank=\d{12}&crc=/],
  ['C2B_SUBSCRIPTION', null, {}, /^AS1.*\?type=01&bank=\d{12}&crc=/],
  ['C2B_SUBSCRIPTION_WITH_PAYMENT', 100, {}, /^AD1.*\?type=02&bank=\d{12}&sum=100&cur=RUB&crc=/],
])('makes %s of %s kopecks %o', async (scenario, amount_kopecks, more, pattern) => {
  const qr = await makeQr(simulator, { scenario, amount_kopecks, ...more });
  const [before, crc] = qr.link.split('&crc=');
  expect(qr.qrc_id).toMatch(/^A[SD]1[0-9A-V]{29}$/);
  expect(qr.link.replace('https://qr.nspk.ru/', '')).toMatch(pattern);
  expect(crc16(before)).toBe(crc);
  expect((await qr.resolve()).body).toMatchObject({ qrc_id: qr.qrc_id, scenario, amount_kopecks });
  expect((await call('GET', '/sim/qrs')).body.qrs[0]).toMatchObject({ qrc_id: qr.qrc_id, link: qr.link });
});

test('the lifetime of a QR is that of SBP by default', async () => {
  const lifeSec = async (fields: object) => {
    const { created_at, expires_at } = await makeQr(simulator, fields);
    return expires_at && Math.round((Date.parse(expires_at) - Date.parse(created_at)) / 1000);
  };
  expect(await lifeSec({})).toBe(72 * 3600);
  expect(await lifeSec({ scenario: 'C2B_CASH_REGISTER' })).toBe(300);
  expect(await lifeSec({ reusable: true })).toBeNull();
  expect(await lifeSec({ expires_in_sec: null })).toBeNull();
  expect(await lifeSec({ expires_in_sec: 60 })).toBe(60);
});

test('changing a QR changes the answer to resolving and its fingerprint, but not its link', async () => {
  const qr = await makeQr(simulator);
  const seen = new Set([qr.fingerprint]);
  const changes = [
    { amount_kopecks: 1 },
    { recipient: 'Другой магазин' },
    { recipient_id: 'MB1' },
    { purpose: 'Роза' },
  ];
  for (const fields of [...changes, { expires_in_sec: 50 }]) {
    const { status, body } = await call('PATCH', `/sim/qrs/${qr.qrc_id}`, fields);
    const { expires_in_sec: _, ...facts } = fields as Record<string, unknown>;
    expect([status, body.link]).toEqual([200, qr.link]);
    expect((await qr.resolve()).body).toMatchObject({ ...facts, fingerprint: body.fingerprint });
    expect(seen.has(body.fingerprint)).toBe(false);
    seen.add(body.fingerprint);
  }
});

test('a QR shows its state, and orders are listed newest first', async () => {
  const [qr, paymentId] = [await makeQr(simulator), nextPaymentId()];
  const state = async () => (await call('GET', `/sim/qrs/${qr.qrc_id}`)).body.state;
  expect(await state()).toBe('open');
  await qr.fault({ on: 'pay', kind: 'finish_later', ms: 500, outcome: 'succeeded' });
  await qr.pay(paymentId);
  expect(await state()).toBe('in_progress');
  await expect.poll(state).toBe('paid');
  expect((await call('GET', '/sim/orders')).body.orders[0]).toMatchObject({ payment_id: paymentId });
  const expired = await makeQr(simulator, { expires_in_sec: 0 });
  expect(expired.state).toBe('expired');
});

test('the image and the page are served, and the page loads nothing from outside', async () => {
  const qr = await makeQr(simulator);
  const picture = await fetch(`${address}/sim/qrs/${qr.qrc_id}.svg`);
  expect(picture.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
  expect(await picture.text()).toMatch(/^<svg /);
  for (const [path, type] of [
    ['/', 'text/html'],
    ['/page.js', 'text/javascript'],
    ['/page.css', 'text/css'],
  ]) {
    const response = await fetch(`${address}${path}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self';/,
    );
    expect(await response.text()).not.toMatch(/https?:\/\//);
  }
});

test('the rate feed answers, freezes, fails and recovers', async () => {
  const set = (body: object) => call('PUT', '/sim/rate', body);
  const { status, body } = await call('GET', '/rate');
  expect([status, body.rate]).toEqual([200, '91.10']);
  expect(Math.abs(body.as_of - Date.now() / 1000)).toBeLessThan(5);
  await set({ rate: '93.4567', frozen_as_of: 1_700_000_000 });
  expect((await call('GET', '/rate')).body).toEqual({ rate: '93.4567', as_of: 1_700_000_000 });
  await set({ down: true });
  expect((await call('GET', '/rate')).status).toBe(503);
  await set({ down: false });
  expect((await call('GET', '/rate')).body).toMatchObject({ rate: '93.4567', as_of: expect.any(Number) });
  for (const bad of [{}, { rate: 92.5 }, { rate: '0.00' }, { rate: '-1' }, { down: 'yes' }, { rates: '1' }]) {
    expect(await set(bad)).toEqual(badRequest);
  }
});

const request = {
  qr_url: 'https://qr.nspk.ru/AS1R004PRL5RNGBA9ARPLJLTDO94S3J9?sum=100',
  qrc_id: 'AS1R004PRL5RNGBA9ARPLJLTDO94S3J9',
  amount_kopecks: 100,
  fingerprint: 'x',
};

test.each([
  ['POST', '/qr/resolve', '{"qr_url":'],
  ['POST', '/qr/resolve', undefined],
  ['POST', '/qr/resolve', []],
  ['POST', '/qr/resolve', 'null'],
  ['POST', '/qr/resolve', { qr_url: 5 }],
  ['POST', '/qr/resolve', { qr_url: 'x'.repeat(3000) }],
  ['POST', '/qr/resolve', '['.repeat(60_000)],
  ['PUT', '/orders/pay_1', {}],
  ['PUT', '/orders/pay_1', { ...request, amount_kopecks: '100' }],
  ['PUT', '/orders/pay_1', { ...request, amount_kopecks: 0 }],
  ['PUT', '/orders/pay_1', { ...request, amount_kopecks: 1.5 }],
  ['PUT', '/orders/pay_1', { ...request, amount_kopecks: 2 ** 60 }],
  ['PUT', '/orders/pay_1', { ...request, fingerprint: null }],
  ['PUT', '/orders/pay_1', { ...request, qrc_id: 'AS1R004PRL5RNGBA9ARPLJLTDO94S3J8' }],
  ['POST', '/sim/qrs', { scenario: 'C2C', amount_kopecks: 1 }],
  ['POST', '/sim/qrs', { scenario: 'C2B', amount_kopecks: -1 }],
  ['POST', '/sim/qrs', { scenario: 'C2B', amount_kopecks: 1, recipient: '' }],
  ['POST', '/sim/qrs', { scenario: 'C2B', amount_kopecks: 1, recipient: ['a'] }],
  ['POST', '/sim/qrs', { scenario: 'C2B', amount_kopecks: 1, reusable: 1 }],
  ['POST', '/sim/qrs', { scenario: 'C2B', amount_kopecks: 1, expires_in_sec: 1e300 }],
  ['POST', '/sim/qrs', { scenario: 'C2B', amount: 1 }],
])('%s %s with %j is a bad request', async (method, path, body) => {
  expect(await call(method, path, body)).toEqual(badRequest);
});

test.each([
  ['POST', '/qr/resolve', { qr_url: 'x'.repeat(70_000) }, 413, 'BODY_TOO_LARGE'],
  ['POST', '/sim/qrs', 'x'.repeat(5_000_000), 413, 'BODY_TOO_LARGE'],
  ['GET', '/nowhere', undefined, 404, 'NOT_FOUND'],
  ['GET', '//', undefined, 404, 'NOT_FOUND'],
  ['GET', '/orders/%E0%A4%A', undefined, 404, 'NOT_FOUND'],
  ['PUT', `/orders/${'x'.repeat(200)}`, request, 404, 'NOT_FOUND'],
  ['GET', '/orders/__proto__', undefined, 404, 'ORDER_UNKNOWN'],
  ['PATCH', '/sim/qrs/AD1', {}, 404, 'QR_CODE_NOT_FOUND'],
  ['GET', '/sim/qrs/AD1.svg', undefined, 404, 'QR_CODE_NOT_FOUND'],
  ['DELETE', '/orders/pay_1', undefined, 405, 'METHOD_NOT_ALLOWED'],
])('%s %s is refused with its own code', async (method, path, body, status, code) => {
  expect(await call(method, path, body)).toEqual({ status, body: { code, message: expect.any(String) } });
});

const { host, port } = new URL(address);

/** A request as a browser or another client sends it; fetch would set the host itself. */
async function send(method: string, path: string, headers: Record<string, string> | string[]) {
  const outgoing = http.request(`${address}${path}`, { method, headers });
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
