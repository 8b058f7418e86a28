import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { checkGateway, type GatewayCheck } from '../../src/gateway/index.ts';
import { startSimulator } from '../helpers/simulator.ts';
import { adapterToken, type Mistake, mistakes, payableLink, startAdapter } from './adapter.ts';

const namesOf = ({ results }: GatewayCheck, wanted: string) =>
  results.filter(({ outcome }) => outcome === wanted).map(({ name }) => name);

const check = (url: string, options: object = {}) =>
  checkGateway({ url, token: adapterToken, qrUrl: payableLink, pays: true, clock: systemClock, ...options });

/** Where each mistake shows. */
const expected: Record<Mistake, string[]> = {
  'token not checked': ['missing token', 'wrong token'],
  'any token accepted': ['wrong token'],
  'void needs no token': ['missing token', 'wrong token'],
  '404 without a code': ['unknown order', 'void of an unknown order'],
  'void of an unknown order is 404': ['void of an unknown order'],
  'voids not stored': ['paying after void'],
  'accepted orders voided': ['void after paying', 'paying and void at once'],
  'void not locked': ['paying and void at once'],
  'every PUT is a new order': [
    'same order again',
    'same order at once',
    'same id, another amount',
    'void after paying',
    'reference',
    'orders in the list',
    'pages',
  ],
  'id not locked': ['same order at once', 'paying and void at once'],
  'busy for an id under way': ['same order at once'],
  'another amount is QR_CHANGED': ['same id, another amount'],
  'another amount is 500': ['same id, another amount'],
  'fingerprint not compared': ['changed QR code'],
  'fingerprint with a time': ['fingerprint'],
  'rubles in the list': ['orders in the list'],
  'rubles in orders': ['paying', 'same order at once', 'paying and void at once'],
  'amounts as texts': ['orders in the list'],
  'amounts of 32 bits': ['large amounts'],
  'amounts rounded': ['invalid amounts'],
  'invalid amounts are 500': ['invalid amounts'],
  'local times': ['times'],
  'clock ahead': ['times'],
  'newest first': ['times', 'pages'],
  'cursor is a time': ['pages'],
  'since is exclusive': ['pages'],
  'since ignored': ['since'],
  'limit ignored': ['pages'],
  'cursor without end': ['orders in the list', 'times', 'pages', 'since'],
  'voids listed': ['orders in the list'],
  'HTML content type': ['content type'],
  'slow resolve': ['response times'],
  'no reference': [],
  'reference cut': ['reference'],
  'reference replaced': ['reference'],
  'broken JSON is 500': ['malformed requests'],
  'unknown cursor starts again': ['malformed requests'],
  'unknown QR code is 500': ['unknown QR code'],
  'expiry in local time': ['reading the QR code'],
  'amount of the code in rubles': ['reading the QR code'],
  'no outcome': ['paying'],
  'declined, then succeeded': ['paying', 'same order at once'],
  'a repeated PUT is declined': ['same order again', 'same order at once'],
  'another state in the list': ['orders in the list'],
  'no refunds': [],
  'rubles in refunds': ['list of refunds'],
};

test('an adapter without a mistake passes all checks', async () => {
  const { url } = await startAdapter();
  const result = await check(url);
  expect({ failed: namesOf(result, 'failed'), skipped: namesOf(result, 'skipped') }).toEqual({
    failed: [],
    skipped: [],
  });
  expect(result.passed).toBe(true);
  expect(result.orders).toBeLessThanOrEqual(6);
});

test('the simulator passes all checks', async () => {
  const { address } = await startSimulator({ GATEWAY_TOKEN: adapterToken });
  const result = await check(address);
  expect(result.results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
});

test.each(mistakes)('finds, and nothing else: %s', async mistake => {
  const { url } = await startAdapter(mistake);
  const isSlow = mistake === 'slow resolve';
  const result = await check(url, {
    ...(isSlow ? { timeouts: { payMs: 20_000, otherMs: 6_000 } } : {}),
    finalTimeoutMs: 100,
  });
  expect(namesOf(result, 'failed')).toEqual(expected[mistake]);
  expect(result.passed).toBe(expected[mistake].length === 0);
  if (mistake === 'no refunds') expect(namesOf(result, 'skipped')).toEqual(['list of refunds']);
  if (mistake === 'no reference') expect(namesOf(result, 'skipped')).toEqual(['reference']);
});

test.each<[Mistake, number]>([
  ['voids not stored', 1],
  ['fingerprint not compared', 1],
  ['amounts of 32 bits', 1],
  ['local times', 0],
])('counts orders that must not be accepted: %s', async (mistake, count) => {
  const { url } = await startAdapter(mistake);
  expect((await check(url)).wronglyAccepted).toBe(count);
});

test('without permission to pay no order is placed', async () => {
  const { address, call } = await startSimulator({ GATEWAY_TOKEN: adapterToken });
  const result = await check(address, { pays: false });
  expect(result).toMatchObject({ passed: true, orders: 0 });
  const { body } = await call('GET', '/orders', undefined, adapterToken);
  expect(body.orders).toEqual([]);
  expect(namesOf(result, 'passed')).toContain('reading the QR code');
  expect(namesOf(result, 'skipped')).toContain('paying');
});

test('a code over a large amount is not paid', async () => {
  const { address, call } = await startSimulator({ GATEWAY_TOKEN: adapterToken });
  const result = await check(address, { qrUrl: payableLink.replace('sum=1000', 'sum=10001') });
  expect(result.results.find(({ name }) => name === 'paying')).toMatchObject({
    outcome: 'skipped',
    detail: expect.stringContaining('100.01 RUB'),
  });
  expect((await call('GET', '/orders', undefined, adapterToken)).body.orders).toEqual([]);
});

test('a gateway that cannot be reached is asked once', async () => {
  const result = await check('http://127.0.0.1:9');
  expect(result.results[0]).toMatchObject({
    outcome: 'failed',
    detail: expect.stringContaining('no answer'),
  });
  expect(namesOf(result, 'failed')).toEqual(['list of orders']);
  expect(namesOf(result, 'skipped')).toHaveLength(result.results.length - 1);
});
