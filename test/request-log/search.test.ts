import { expect, test } from 'vitest';
import { type Id, newId, uuidFromId } from '../../src/base/ids.ts';
import { openPool, type Queryable } from '../../src/db/postgres/pool.ts';
import {
  findCreatingRequest,
  parseStatus,
  pruneRequestLog,
  type RequestFilter,
  searchRequests,
} from '../../src/request-log/index.ts';
import { afterFile } from '../helpers/after-file.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase, createFundedPartner, createTimedDatabase } from '../helpers/database.ts';
import { type Answered, answered, store } from './requests.ts';

const { pool, clock } = await createTimedDatabase('2026-11-18T22:00:00.000Z');
await pruneRequestLog(pool, clock, 7);
const holderOf = (partnerId: Id<'prt'>) => ({ partnerId, mode: 'test', keyId: '7f3a9c21b0d4' }) as const;
const [one, other] = [
  holderOf(await createFundedPartner(pool, 0n)),
  holderOf(await createFundedPartner(pool, 0n)),
];
const paymentId = newId('pay', clock);

/** One request every ten minutes, over midnight. */
const given: Partial<Answered>[] = [
  { keyHolder: one },
  { keyHolder: one, paymentId },
  { keyHolder: one, route: '/v1/payments/:payment_id', method: 'GET', paymentId },
  { keyHolder: other, route: '/v1/quote', status: 422 },
  { isAdmitted: false, status: 401, errorCode: 'unauthorized' },
  { isAdmitted: false, status: 404, errorCode: 'not_found', route: undefined, url: '/v1/payment' },
  { keyHolder: other, status: 503, errorCode: 'gateway_busy' },
  { keyHolder: one, status: 500, errorCode: 'internal_error' },
  { keyHolder: one, route: '/v1/quote' },
  { keyHolder: one, status: 429, errorCode: 'rate_limited' },
];
const stored = given.map(each => {
  clock.advance(600_000);
  return answered(each, clock);
});
await store(pool, ...stored);

/** The numbers of what is found, page by page. */
async function find(filter: RequestFilter, limit = 3): Promise<number[]> {
  const found: Id<'req'>[] = [];
  for (let after: Id<'req'> | undefined; ; ) {
    const { requests, next } = await searchRequests(pool, filter, { after, limit });
    found.push(...requests.map(({ requestId }) => requestId));
    if (!next) return found.map(id => stored.findIndex(({ requestId }) => requestId === id));
    after = next;
  }
}

test.each<[string, RequestFilter, number[]]>([
  ['all', {}, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
  ['of a route', { path: '/v1/quote' }, [8, 3]],
  ['of an unknown route', { path: '/v1/…' }, [5]],
  ['of the route of payments', { path: '/v1/payments/:payment_id' }, [2]],
  ['that succeeded', { status: parseStatus('2xx') }, [8, 2, 1, 0]],
  ['that failed', { status: parseStatus('5xx') }, [7, 6]],
  ['of a status', { status: parseStatus('429') }, [9]],
  ['of a good status', { status: parseStatus('200') }, [8, 2, 1, 0]],
  ['of one id', { requestId: stored[6]!.requestId }, [6]],
  ['since', { since: new Date('2026-11-18T23:10:00Z') }, [9, 8, 7, 6]],
  ['until', { until: new Date('2026-11-18T22:30:00Z') }, [1, 0]],
  ['of all three', { partnerId: one.partnerId, path: '/v1/quote', status: parseStatus('2xx') }, [8]],
  ['of an error with another status', { errorCode: 'unauthorized', status: parseStatus('404') }, []],
  ['of a partner that failed', { partnerId: one.partnerId, status: parseStatus('5xx') }, [7]],
  ['of another partner with this id', { requestId: stored[6]!.requestId, partnerId: one.partnerId }, []],
])('requests are found: %s', async (_what, filter, numbers) => {
  expect(await find(filter)).toEqual(numbers);
});

test.each(['', '4', '4x', 'xx', '600', '1xx', '40x', '4xx ', '404.0'])('%j is not a status', text => {
  expect(parseStatus(text)).toBeUndefined();
});

test('the request that created a payment is the first one about it, not a repeat or a look', async () => {
  const createdAt = new Date(Date.parse('2026-11-18T22:20:00.400Z'));
  expect(await findCreatingRequest(pool, { paymentId, createdAt })).toBe(stored[1]!.requestId);
  const later = new Date(createdAt.getTime() + 300_000);
  expect(await findCreatingRequest(pool, { paymentId, createdAt: later })).toBeNull();
  expect(await findCreatingRequest(pool, { paymentId: newId('pay', clock), createdAt })).toBeNull();
});

/** A database whose statements may take long: those that fill it, on a slow machine. */
async function createLargeDatabase() {
  const { pool: own } = await createDatabase();
  const patient = openPool({ ...own.options, statement_timeout: 60_000 });
  afterFile(() => patient.end());
  return patient;
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: PlanNode[];
}
const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

test('each filter reads a page in the order of an index, without sorting what matches', async () => {
  const large = await createLargeDatabase();
  const partnerIds = await Promise.all([1, 2, 3].map(() => createFundedPartner(large, 0n)));
  const now = manualClock('2026-11-20T12:00:00Z');
  await pruneRequestLog(large, now, 7);
  await large.query(
    `INSERT INTO api_requests (request_id, at, partner_id, mode, key_id, method, path, payment_id, status, error_code, duration_ms)
     SELECT uuidv7(at - now()), date_trunc('milliseconds', at), p.id, 'live', 'k', 'POST',
            CASE WHEN n % 97 = 0 THEN '/v1/statement' ELSE '/v1/payments' END, CASE WHEN n % 3 = 0 THEN gen_random_uuid() END,
            CASE WHEN n % 50 = 0 THEN 429 WHEN n % 501 = 0 THEN 503 ELSE 200 END,
            CASE WHEN n % 50 = 0 THEN 'rate_limited' WHEN n % 501 = 0 THEN 'maintenance' END, 5
       FROM (SELECT n, timestamptz '2026-11-20 00:00Z' + n * interval '10 s' AS at FROM generate_series(1, 12000) AS n) AS made
       JOIN (SELECT id, row_number() OVER (ORDER BY id) AS nth FROM partners) AS p
         ON p.nth = CASE WHEN n % 101 = 0 THEN 3 ELSE 1 + n % 2 END`,
  );
  await large.query('ANALYZE api_requests');
  const filters: [RequestFilter, string][] = [
    [{}, 'request_id'],
    [{ partnerId: partnerIds.sort()[2]! }, 'partner_id_request_id'],
    [{ path: '/v1/statement' }, 'path_request_id'],
    [{ errorCode: 'maintenance' }, 'error_code_request_id'],
    [{ status: parseStatus('5xx') }, 'expr_request_id'],
    [{ path: `/v1/payments/${newId('pay', now)}` }, 'payment_id_request_id'],
    [{ requestId: newId('req', now) }, 'request_id'],
  ];
  for (const [filter, index] of filters) {
    const plans: PlanNode[] = [];
    const db = {
      query: async (statement: { text: string; values: unknown[] }) => {
        const explained = await large.query(`EXPLAIN (FORMAT JSON) ${statement.text}`, statement.values);
        plans.push(explained.rows[0]['QUERY PLAN'][0].Plan);
        return { rows: [{ request_id: null, scanned: 0 }] };
      },
    } as unknown as Queryable;
    // A page is short compared with what matches.
    await searchRequests(db, filter, { limit: 3 });
    const nodes = nodesOf(plans[0]!);
    // Of the days that have rows.
    const scans = nodes.filter(node => /^api_requests_2026112[01]$/.test(node['Relation Name'] ?? ''));
    const expected = expect.stringMatching(new RegExp(`^api_requests_\\d+_${index}_idx$`));
    expect(scans.length, index).toBeGreaterThan(0);
    expect(scans, index).toEqual(scans.map(() => expect.objectContaining({ 'Index Name': expected })));
  }
});

test('a filter that hardly matches ends after a bounded number of requests, and the search can be continued', async () => {
  const long = await createLargeDatabase();
  const partnerId = await createFundedPartner(long, 0n);
  await long.query(
    `INSERT INTO api_requests (request_id, at, partner_id, mode, key_id, method, path, status, duration_ms)
     SELECT uuidv7(at - now()), date_trunc('milliseconds', at), $1, 'live', 'k', 'POST',
            CASE WHEN n = 1 THEN '/v1/quote' ELSE '/v1/payments' END, 200, 5
       FROM (SELECT n, timestamptz '2026-11-20 00:00Z' + n * interval '10 ms' AS at FROM generate_series(1, 60000) AS n) AS made`,
    [uuidFromId(partnerId)],
  );
  const filter = { partnerId, path: '/v1/quote' };
  const sizes: number[] = [];
  const db = {
    query: async (statement: { text: string; values: unknown[] }) => {
      const answer = await long.query(statement);
      sizes.push(answer.rows[0].scanned);
      return answer;
    },
  } as unknown as Queryable;
  const first = await searchRequests(db, filter, { limit: 50 });
  expect(first.requests).toEqual([]);
  expect(sizes).toEqual([51, 204, 816, 3_264, 10_000, 10_000, 10_000]);
  const second = await searchRequests(db, filter, { limit: 50, after: first.next! });
  expect(second).toMatchObject({ requests: [{ path: '/v1/quote' }], next: null });
});
