import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { createPartner } from '../../src/partners/index.ts';
import { readPages, startConsole } from '../helpers/console.ts';
import { auditContextOf, createDatabase, createFundedPartner, setRate } from '../helpers/database.ts';
import { openInReview } from '../helpers/review.ts';
import { type Answered, answered, store } from '../request-log/requests.ts';

const { pool } = await createDatabase();
const { signIn } = await startConsole({ pool });
const viewer = await signIn('viewer');

const audit = auditContextOf(pool);
const names = ['Bakery', 'Coffee', 'coffee', 'Tea corner'];
const [bakery, coffee, coffeeToo, tea] = await Promise.all(names.map(name => createPartner(audit, name)));
const keyHolder = { partnerId: bakery!.partnerId, mode: 'test', keyId: '7f3a9c21b0d4' } as const;
const paymentId = newId('pay', systemClock);
const given: Partial<Answered>[] = [
  { keyHolder, paymentId },
  { keyHolder, route: '/v1/payments/:payment_id', method: 'GET', paymentId },
  { keyHolder: { ...keyHolder, partnerId: tea!.partnerId }, status: 429, errorCode: 'rate_limited' },
  { isAdmitted: false, method: undefined, route: undefined, status: 400, errorCode: 'invalid_request' },
  { keyHolder, status: 503, errorCode: 'maintenance' },
];
const stored = given.map(each => answered(each));
await store(pool, ...stored);

const find = async (query: string): Promise<number[]> => {
  const { status, json } = await viewer.get(`/request-log?${query}`);
  expect(status, query).toBe(200);
  return json.data.map(({ request_id }: { request_id: string }) =>
    stored.findIndex(({ requestId }) => requestId === request_id),
  );
};

describe('GET /request-log', () => {
  test('has who asked for what, and how it was answered', async () => {
    const { json } = await viewer.get(`/request-log?request_id=${stored[1]!.requestId}`);
    expect(json).toEqual({
      data: [
        {
          request_id: stored[1]!.requestId,
          at: expect.stringMatching(/^\d{4}-.*Z$/),
          partner_id: bakery!.partnerId,
          partner: 'Bakery',
          mode: 'test',
          key_id: '7f3a9c21b0d4',
          method: 'GET',
          path: `/v1/payments/${paymentId}`,
          payment_id: paymentId,
          status: 200,
          error_code: null,
          duration_ms: 12,
        },
      ],
      next_cursor: null,
    });
  });

  test('finds requests by each filter', async () => {
    expect(await find('')).toEqual([4, 3, 2, 1, 0]);
    expect(await find(`partner=${bakery!.partnerId}`)).toEqual([4, 1, 0]);
    expect(await find('partner=bakery')).toEqual([4, 1, 0]);
    expect(await find('partner=corner')).toEqual([2]);
    expect(await find('partner=nobody')).toEqual([]);
    expect(await find('path=/v1/payments?limit=1')).toEqual([4, 2, 0]);
    expect(await find(`path=%20/v1/payments/${paymentId}`)).toEqual([1, 0]);
    expect(await find('status=4xx')).toEqual([3, 2]);
    expect(await find('status=503&partner=Bakery')).toEqual([4]);
    expect(await find('error_code=rate_limited')).toEqual([2]);
    expect(await find('since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z')).toEqual([]);
    expect(await find('since=2020-01-01T00:00:00Z')).toEqual([4, 3, 2, 1, 0]);
  });

  test('is read page by page, each request once', async () => {
    const found = await readPages(viewer, '/request-log?limit=2');
    const ids = stored.map(({ requestId }) => requestId);
    expect(found.map(({ request_id }) => request_id)).toEqual(ids.toReversed());
  });

  test('refuses the name of several partners', async () => {
    const message = 'Several partners match this name: enter the partner ID.';
    const ambiguous = await viewer.get('/request-log?partner=COFFEE');
    expect(ambiguous).toMatchObject({ status: 422, json: { error: { message } } });
    expect(await find(`partner=${coffee!.partnerId}`)).toEqual([]);
    expect(await find(`partner=${coffeeToo!.partnerId}`)).toEqual([]);
  });
});

test('a payment names the request that created it, as long as that is in the log', async () => {
  await setRate(pool);
  const partnerId = await createFundedPartner(pool, 100_000_000n);
  const opened = await openInReview(pool, partnerId);
  const read = async () => (await viewer.get(`/payments/${opened}`)).json.payment.api_request_id;
  expect(await read()).toBeNull();
  const creating = answered({ keyHolder: { ...keyHolder, partnerId }, paymentId: opened });
  await store(pool, creating, answered({ keyHolder: { ...keyHolder, partnerId }, paymentId: opened }));
  expect(await read()).toBe(creating.requestId);
});
