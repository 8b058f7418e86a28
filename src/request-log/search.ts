import { type Id, idFromUuid, minUuidAt, parseId, timeOfId, uuidFromId } from '../base/ids.ts';
import type { Queryable } from '../db/pool.ts';
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
  /** Of a payment: `/v1/payments/pay_…`; otherwise the pattern of a route. */
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

interface Page {
  after?: Id<'req'> | undefined;
  limit: number;
}

/**
 * A page of the log, newest first: ids are in the order of arrival. The statement contains only the conditions of the filter,
 * so that each combination can use the index that fits it; those on the time leave out the partitions of other days.
 */
export async function searchRequests(
  db: Queryable,
  filter: RequestFilter,
  { after, limit }: Page,
): Promise<LoggedRequest[]> {
  const values: unknown[] = [limit];
  const given = (value: unknown) => `$${values.push(value)}`;
  const { requestId, partnerId, path, status, errorCode, since, until } = filter;
  const paymentId = path?.startsWith(paymentsPath) && parseId('pay', path.slice(paymentsPath.length));
  const conditions = [
    ...(requestId ? [`request_id = ${given(uuidFromId(requestId))}`, isAt(requestId, given)] : []),
    ...(partnerId ? [`partner_id = ${given(uuidFromId(partnerId))}`] : []),
    ...(paymentId
      ? [`payment_id = ${given(uuidFromId(paymentId))}`]
      : path === undefined
        ? []
        : [`path = ${given(path)}`]),
    ...(status ? ofStatus(status) : []),
    ...(errorCode === undefined ? [] : [`error_code = ${given(errorCode)}`]),
    ...(since ? [`at >= ${given(since)}`, `request_id >= ${given(minUuidAt(since.getTime()))}::uuid`] : []),
    ...(until ? [`at < ${given(until)}`, `request_id < ${given(minUuidAt(until.getTime()))}::uuid`] : []),
    ...(after
      ? [`request_id < ${given(uuidFromId(after))}::uuid`, `at <= ${given(new Date(timeOfId(after)))}`]
      : []),
  ];
  const { rows } = await db.query<Row>({
    text: `SELECT r.*, p.name AS partner
             FROM (SELECT * FROM api_requests ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
                    ORDER BY request_id DESC LIMIT $1) AS r
             LEFT JOIN partners p ON p.id = r.partner_id
            ORDER BY r.request_id DESC`,
    values,
  });
  return rows.map(toRequest);
}

const paymentsPath = '/v1/payments/';

const isAt = (requestId: Id<'req'>, given: (value: unknown) => string) => {
  const atMs = timeOfId(requestId);
  return `at >= ${given(new Date(atMs))} AND at < ${given(new Date(atMs + 1))}`;
};

/** Both conditions of failures are those of their index. */
function ofStatus({ firstDigit, status }: StatusRange): string[] {
  return [
    ...(firstDigit < 4 ? [] : ['status >= 400']),
    `status / 100 = ${firstDigit}`,
    ...(status === undefined ? [] : [`status = ${status}`]),
  ];
}

export async function findRequest(db: Queryable, requestId: Id<'req'>): Promise<LoggedRequest | undefined> {
  const [found] = await searchRequests(db, { requestId }, { limit: 1 });
  return found;
}

const longestPreparationMs = 120_000;
const clocksDifferMs = 2_000;

/** The request that created the payment; null if it is not in the log, or no more. */
export async function findCreatingRequest(
  db: Queryable,
  { paymentId, createdAt }: { paymentId: Id<'pay'>; createdAt: Date },
): Promise<Id<'req'> | null> {
  const createdMs = createdAt.getTime();
  const { rows } = await db.query<{ request_id: string }>({
    text: `SELECT request_id FROM api_requests
            WHERE payment_id = $1 AND method = 'POST' AND at >= $2 AND at < $3
            ORDER BY request_id LIMIT 1`,
    values: [
      uuidFromId(paymentId),
      new Date(createdMs - longestPreparationMs),
      new Date(createdMs + clocksDifferMs),
    ],
  });
  return rows[0] ? idFromUuid('req', rows[0].request_id) : null;
}

interface Row {
  request_id: string;
  at: Date;
  partner_id: string | null;
  partner: string | null;
  mode: Mode | null;
  key_id: string | null;
  method: string | null;
  path: string | null;
  payment_id: string | null;
  status: number;
  error_code: string | null;
  duration_ms: number;
}

function toRequest(row: Row): LoggedRequest {
  const paymentId = row.payment_id === null ? null : idFromUuid('pay', row.payment_id);
  return {
    requestId: idFromUuid('req', row.request_id),
    at: row.at,
    partnerId: row.partner_id === null ? null : idFromUuid('prt', row.partner_id),
    partnerName: row.partner,
    mode: row.mode,
    keyId: row.key_id,
    method: row.method,
    route: row.path,
    path: paymentId === null || row.path === null ? row.path : row.path.replace(':payment_id', paymentId),
    paymentId,
    status: row.status,
    errorCode: row.error_code,
    durationMs: row.duration_ms,
  };
}
