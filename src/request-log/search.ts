import { type Id, idFromUuid, minUuidAt, parseId, timeOfId, uuidFromId } from '../base/ids.ts';
import { findValue, type Queryable, readRows } from '../db/postgres/index.ts';
import type { Mode } from '../ledger/index.ts';

/** A request as support sees it. */
export interface LoggedRequest {
  requestId: Id<'req'>;
  at: Date;
  partnerId: Id<'prt'> | null;
  partnerName: string | null;
  mode: Mode | null;
  keyId: string | null;
  method: string | null;
  /** The pattern of its route. */
  route: string | null;
  /** As it was sent, without the query string. */
  path: string | null;
  paymentId: Id<'pay'> | null;
  status: number;
  errorCode: string | null;
  durationMs: number;
}

/** Undefined: any. `since` is included, `until` is not. */
export interface RequestFilter {
  requestId?: Id<'req'> | undefined;
  partnerId?: Id<'prt'> | undefined;
  /** For a payment: `/v1/payments/pay_…`; otherwise the pattern of a route. */
  path?: string | undefined;
  status?: StatusRange | undefined;
  errorCode?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/** All answers whose status begins with this digit, or one status. */
export type StatusRange = { firstDigit: number; status?: number };

/** Reads `4xx` or `404`; undefined if it is neither. */
export function parseStatus(text: string): StatusRange | undefined {
  const found = /^([2-5])(xx|\d\d)$/.exec(text);
  if (!found) return undefined;
  const firstDigit = Number(found[1]);
  return found[2] === 'xx' ? { firstDigit } : { firstDigit, status: Number(text) };
}

interface FoundPage {
  requests: LoggedRequest[];
  /** Where the next page begins; null when there is none. A page that is not full may have a next one. */
  next: Id<'req'> | null;
}

/**
 * A search reads requests along one index in a few scans, and then returns what it has, however few of them match the rest of
 * the filter: the operator gets an answer in time, and continues from there. Most searches need the first scan only.
 */
const maxScanSize = 10_000;
/** Together with the sizes, some 35 000 requests. */
const maxScans = 7;

/** A page of the log, newest first: ids are in the order of arrival. */
export async function searchRequests(
  db: Queryable,
  filter: RequestFilter,
  { after, limit }: { after?: Id<'req'> | undefined; limit: number },
): Promise<FoundPage> {
  const found: Row[] = [];
  let before = after;
  let size = limit + 1;
  for (let scans = 0; scans < maxScans && found.length <= limit; scans++) {
    const scan = { before, size, maxMatches: limit + 1 - found.length };
    const rows = await readRows<Row>(db, scanStatement(filter, scan));
    found.push(...rows.filter(({ request_id }) => request_id !== null));
    const { scanned, last_id: last } = rows[0]!;
    if (scanned < size) {
      before = undefined;
      break;
    }
    before = idFromUuid('req', last!);
    size = Math.min(size * 4, Math.max(limit + 1, maxScanSize));
  }
  const requests = found.slice(0, limit).map(toRequest);
  const next = found.length > limit ? requests.at(-1)!.requestId : before;
  return { requests, next: next ?? null };
}

interface Scan {
  before: Id<'req'> | undefined;
  /** How many requests are read. */
  size: number;
  maxMatches: number;
}

/** The conditions on the time leave out the partitions of other days. */
function scanStatement(filter: RequestFilter, { before, size, maxMatches }: Scan) {
  const values: unknown[] = [];
  const given = (value: unknown) => `$${values.push(value)}`;
  const { since, until } = filter;
  const [indexed = [], ...others] = conditionsOf(filter, given);
  const read = [
    ...indexed,
    ...(since ? [`at >= ${given(since)}`, `request_id >= ${given(minUuidAt(since.getTime()))}::uuid`] : []),
    ...(until ? [`at < ${given(until)}`, `request_id < ${given(minUuidAt(until.getTime()))}::uuid`] : []),
    ...(before
      ? [`request_id < ${given(uuidFromId(before))}::uuid`, `at <= ${given(new Date(timeOfId(before)))}`]
      : []),
  ];
  return {
    text: `WITH scanned AS MATERIALIZED (
             SELECT * FROM api_requests ${where(read)} ORDER BY request_id DESC LIMIT ${size}
           )
           SELECT r.request_id, r.at, r.partner_id, p.name AS "partnerName", r.mode, r.key_id AS "keyId", r.method, r.path,
                  r.payment_id, r.status, r.error_code AS "errorCode", r.duration_ms AS "durationMs",
                  (SELECT count(*)::int FROM scanned) AS scanned,
                  (SELECT s.request_id FROM scanned s ORDER BY s.request_id LIMIT 1) AS last_id
             FROM (SELECT) AS always
             LEFT JOIN (SELECT * FROM scanned ${where(others.flat())} ORDER BY request_id DESC LIMIT ${maxMatches}) AS r ON true
             LEFT JOIN partners p ON p.id = r.partner_id
            ORDER BY r.request_id DESC`,
    values,
  };
}

const where = (conditions: string[]) => (conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '');

/** The conditions of each part of the filter. The first one has an index and, as a rule, the fewest matches of all. */
function conditionsOf(filter: RequestFilter, given: (value: unknown) => string): string[][] {
  const { requestId, partnerId, path, status, errorCode } = filter;
  const paymentId = path?.startsWith(paymentsPath) && parseId('pay', path.slice(paymentsPath.length));
  const hasIndex = status && status.firstDigit >= 4;
  return [
    ...(requestId ? [[`request_id = ${given(uuidFromId(requestId))}`, isAt(requestId, given)]] : []),
    ...(paymentId ? [[`payment_id = ${given(uuidFromId(paymentId))}`]] : []),
    ...(errorCode === undefined ? [] : [[`error_code = ${given(errorCode)}`]]),
    ...(hasIndex ? ofFailures(status) : []),
    ...(partnerId ? [[`partner_id = ${given(uuidFromId(partnerId))}`]] : []),
    ...(paymentId || path === undefined ? [] : [[`path = ${given(path)}`]]),
    ...(status && !hasIndex ? [[], ofStatus(status)] : []),
  ];
}

const paymentsPath = '/v1/payments/';

const isAt = (requestId: Id<'req'>, given: (value: unknown) => string) => {
  const atMs = timeOfId(requestId);
  return `at >= ${given(new Date(atMs))} AND at < ${given(new Date(atMs + 1))}`;
};

/** Those of the index; which status it is among them has none. */
const ofFailures = ({ firstDigit, status }: StatusRange): string[][] => [
  ['status >= 400', `status / 100 = ${firstDigit}`],
  status === undefined ? [] : [`status = ${status}`],
];

const ofStatus = ({ firstDigit, status }: StatusRange): string[] => [
  status === undefined ? `status / 100 = ${firstDigit}` : `status = ${status}`,
];

export async function findRequest(db: Queryable, requestId: Id<'req'>): Promise<LoggedRequest | undefined> {
  const { requests } = await searchRequests(db, { requestId }, { limit: 1 });
  return requests[0];
}

const longestPreparationMs = 120_000;
const clocksDifferMs = 2_000;

/** The request that created the payment; null if it is not in the log, or no more. */
export async function findCreatingRequest(
  db: Queryable,
  { paymentId, createdAt }: { paymentId: Id<'pay'>; createdAt: Date },
): Promise<Id<'req'> | null> {
  const createdMs = createdAt.getTime();
  const requestId = await findValue<string>(db, {
    text: `SELECT request_id FROM api_requests
            WHERE payment_id = $1 AND method = 'POST' AND at >= $2 AND at < $3
            ORDER BY request_id LIMIT 1`,
    values: [
      uuidFromId(paymentId),
      new Date(createdMs - longestPreparationMs),
      new Date(createdMs + clocksDifferMs),
    ],
  });
  return requestId === undefined ? null : idFromUuid('req', requestId);
}

/** A match of a scan, with how many requests it read and the last of them; without a match, one row of nulls. */
interface Row extends Omit<LoggedRequest, 'requestId' | 'partnerId' | 'paymentId' | 'route'> {
  request_id: string;
  partner_id: string | null;
  payment_id: string | null;
  scanned: number;
  last_id: string | null;
}

function toRequest({
  request_id,
  partner_id,
  payment_id,
  scanned: _,
  last_id: __,
  ...row
}: Row): LoggedRequest {
  const paymentId = payment_id === null ? null : idFromUuid('pay', payment_id);
  return {
    ...row,
    requestId: idFromUuid('req', request_id),
    partnerId: partner_id === null ? null : idFromUuid('prt', partner_id),
    route: row.path,
    path: paymentId === null || row.path === null ? row.path : row.path.replace(':payment_id', paymentId),
    paymentId,
  };
}
