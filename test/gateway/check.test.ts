import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { checkGateway, type GatewayCheck } from '../../src/gateway/index.ts';
import { openSimulator } from '../helpers/simulator.ts';
import { adapterToken, type Mistake, mistakes, payableLink, startAdapter } from './adapter.ts';

const namesOf = ({ results }: GatewayCheck, wanted: string) =>
  results.filter(({ outcome }) => outcome === wanted).map(({ name }) => name);

const check = (url: string, options: object = {}) =>
  checkGateway({ url, token: adapterToken, qrUrl: payableLink, pays: true, clock: systemClock, ...options });

test('an adapter without a mistake passes all checks', async () => {
  const { url } = await startAdapter();
  const result = await check(url);
  expect([namesOf(result, 'failed'), namesOf(result, 'skipped')]).toEqual([[], []]);
  expect(result.passed).toBe(true);
  expect(result.orders).toBeLessThanOrEqual(6);
});

test.concurrent.for(Object.entries(mistakes))(
  'finds, and nothing else: %s',
  async ([name, checks], { expect }) => {
    const mistake = name as Mistake;
    const { url } = await startAdapter(mistake);
    const isSlow = mistake === 'slow resolve';
    const result = await check(url, {
      ...(isSlow ? { timeouts: { payMs: 20_000, otherMs: 6_000 } } : {}),
      finalTimeoutMs: 100,
    });
    expect(namesOf(result, 'failed')).toEqual(checks);
    expect(result.passed).toBe(checks.length === 0);
    if (mistake === 'no refunds') expect(namesOf(result, 'skipped')).toEqual(['list of refunds']);
    if (mistake === 'no operation number') expect(namesOf(result, 'skipped')).toEqual(['operation number']);
    if (mistake === 'no reference') expect(namesOf(result, 'skipped')).toEqual(['reference']);
  },
);

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
  const { address, call } = await openSimulator({ GATEWAY_TOKEN: adapterToken });
  const result = await check(address, { pays: false });
  expect(result).toMatchObject({ passed: true, orders: 0 });
  const { body } = await call('GET', '/orders', undefined, adapterToken);
  expect(body.orders).toEqual([]);
  expect(namesOf(result, 'passed')).toContain('reading the QR code');
  expect(namesOf(result, 'skipped')).toContain('paying');
});

test('a code over a large amount is not paid', async () => {
  const { address, call } = await openSimulator({ GATEWAY_TOKEN: adapterToken });
  const result = await check(address, { qrUrl: payableLink.replace('sum=1000', 'sum=10001') });
  const paying = result.results.find(({ name }) => name === 'paying');
  expect(paying).toMatchObject({ outcome: 'skipped', detail: expect.stringContaining('100.01 RUB') });
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
