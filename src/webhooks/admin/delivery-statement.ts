import { type Id, uuidFromId } from '../../base/ids.ts';
import type { Statement } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';

/** Over the deliveries of all partners; a delivery must match every field that is set. */
export interface DeliveryFilter {
  state?: 'pending' | 'delivered' | 'failed' | undefined;
  partnerId?: Id<'prt'> | undefined;
  /** Only with its partner. */
  endpointId?: Id<'whe'> | undefined;
  /** Only these events; only with their partner. */
  eventIds?: bigint[] | undefined;
  mode?: Mode | undefined;
  /** The kind of the event. */
  outcome?: 'succeeded' | 'failed' | 'refunded' | undefined;
  /** When the event happened. */
  from?: Date | undefined;
  before?: Date | undefined;
}

/** One scan, newest event first: where it begins and ends, how many rows it reads, how many matches it returns at most. */
export interface DeliveryScan {
  /** Only events with a greater id. */
  beyond: bigint;
  /** Only events with a smaller id. */
  before: bigint;
  size: number;
  maxMatches: number;
}

/** Adds a value to the statement and returns its placeholder. */
type Bind = (value: unknown) => string;

/**
 * Reads events with deliveries in the order of their numbers and keeps the deliveries that match the whole filter. A delivery is
 * a row in the outbox until the endpoint accepts it; after that only its attempts are left. The deliveries of an event come
 * together, even if that is more than `maxMatches`.
 */
export function deliveryStatement(filter: DeliveryFilter, scan: DeliveryScan): Statement {
  const values: unknown[] = [];
  const bind: Bind = value => `$${values.push(value)}`;
  const candidates = candidatesOf(filter, scan, bind);
  const conditions = conditionsOf(filter, bind).join(' AND ');
  return {
    text: `WITH scanned AS MATERIALIZED (
             SELECT * FROM (${candidates}) AS u ORDER BY u.event_id DESC LIMIT ${scan.size})
           SELECT m.*, (SELECT count(*)::int FROM scanned) AS scanned,
                  (SELECT s.event_id FROM scanned s ORDER BY s.event_id LIMIT 1) AS last_id
             FROM (SELECT) AS always
             LEFT JOIN (SELECT ${deliveryColumns} FROM (SELECT DISTINCT partner_id, event_id FROM scanned) AS c
                        ${deliveryJoins}
                         WHERE ${conditions} ORDER BY c.event_id DESC FETCH FIRST ${scan.maxMatches} ROWS WITH TIES) AS m ON true
            ORDER BY m."eventId" DESC, m."endpointId" <> m."partnerId", m."endpointId"`,
    values,
  };
}

/** The kind of the event, without its prefix. */
const outcome = `CASE WHEN e.refund_id IS NULL THEN p.status::text ELSE 'refunded' END`;

export const deliveryColumns = `c.event_id AS "eventId", c.partner_id AS "partnerId", k.endpoint_id AS "endpointId", e.mode, e.payment_id AS "paymentId",
  p.external_id AS "externalId", e.at AS "eventAt", ${outcome} AS outcome, (SELECT r.name FROM partners r WHERE r.id = c.partner_id) AS "partnerName", d.event_id IS NOT NULL AS is_queued,
  d.attempts, d.next_at, d.failed_at, a.attempt, a.at AS attempted_at, a.status, a.error,
  coalesce(a.was_accepted, false) AS was_accepted`;

/**
 * The event and payment of `c`, and for each endpoint its queue entry and last attempt; the first endpoint also after it was
 * removed. An attempt is never much older than its event, so partitions
 * before it are left out. OFFSET 0 keeps the planner from reading all deliveries, or all attempts of the partner in the order of
 * their ids.
 */
export const deliveryJoins = `
  CROSS JOIN LATERAL (SELECT e.* FROM unnest('{live,test}'::mode[]) AS m (mode),
                              deliverable_event(c.partner_id, m.mode, c.event_id) AS e LIMIT 1) AS e
  CROSS JOIN LATERAL payment_anywhere(e.partner_id, e.mode, e.payment_id) AS p
  CROSS JOIN LATERAL (SELECT c.partner_id AS endpoint_id
                      UNION ALL SELECT w.endpoint_id FROM endpoints w WHERE w.partner_id = c.partner_id AND w.mode = e.mode) AS k
   LEFT JOIN LATERAL (SELECT * FROM deliveries d WHERE d.endpoint_id = k.endpoint_id AND d.event_id = c.event_id OFFSET 0) AS d ON true
   LEFT JOIN LATERAL (SELECT o.*, bool_or(o.status BETWEEN 200 AND 299) OVER () AS was_accepted
                        FROM (SELECT * FROM webhook_attempts a WHERE a.event_id = c.event_id
                                 AND a.partner_id = c.partner_id AND a.endpoint_id = k.endpoint_id
                                 AND a.at >= e.at - interval '1 hour' OFFSET 0) AS o
                       ORDER BY o.id DESC LIMIT 1) AS a ON true`;

/** The queries along an index each; together they have every delivery that the filter can match. */
function candidatesOf(
  { state, partnerId, endpointId, eventIds, mode }: DeliveryFilter,
  scan: DeliveryScan,
  bind: Bind,
): string {
  const [beyond, before] = [bind(scan.beyond), bind(scan.before)];
  const inRange = (id: string) => `${id} > ${beyond}::bigint AND ${id} < ${before}::bigint`;
  const queued = (
    condition: string,
  ) => `SELECT d.partner_id, d.event_id FROM deliveries d WHERE ${condition} AND ${inRange('d.event_id')}
    ORDER BY d.event_id DESC LIMIT ${scan.size}`;
  const [pending, failed] = [queued('d.failed_at IS NULL'), queued('d.failed_at IS NOT NULL')];
  if (!partnerId) {
    if (state === 'pending') return pending;
    if (state === 'failed') return failed;
    const attempted = `SELECT a.partner_id, a.event_id FROM webhook_attempts a WHERE ${inRange('a.event_id')}
      ORDER BY a.event_id DESC LIMIT ${scan.size}`;
    return state === 'delivered' ? attempted : union([attempted, pending, failed]);
  }
  const partner = bind(uuidFromId(partnerId));
  if (eventIds)
    return `SELECT ${partner}::uuid AS partner_id, k.event_id FROM unnest(${bind(eventIds)}::bigint[]) AS k (event_id)
             WHERE ${inRange('k.event_id')}`;
  if (state === 'pending' || state === 'failed')
    // Not compared with `=`, and in the order of both columns: so that the planner takes the primary key, or the index of those
    // that failed: a suspended endpoint may have a million pending ones in front of them.
    return `SELECT d.partner_id, d.event_id FROM endpoints w CROSS JOIN LATERAL (
              SELECT o.partner_id, o.event_id FROM deliveries o
               WHERE (o.endpoint_id, o.event_id) > (w.endpoint_id, ${beyond}::bigint)
                 AND (o.endpoint_id, o.event_id) < (w.endpoint_id, ${before}::bigint)
                 ${state === 'failed' ? 'AND o.failed_at IS NOT NULL' : ''}
               ORDER BY o.endpoint_id DESC, o.event_id DESC LIMIT ${scan.size}) AS d
             WHERE w.partner_id = ${partner}${endpointId ? ` AND w.endpoint_id = ${bind(uuidFromId(endpointId))}` : ''}`;
  const modes: Mode[] = mode ? [mode] : ['live', 'test'];
  // An event that is archived meanwhile may be in both places: it is scanned twice and counts once.
  const events = modes.flatMap(one => {
    const own = `e.partner_id = ${partner} AND e.mode = ${bind(one)}`;
    return [
      `SELECT e.partner_id, e.id AS event_id FROM events e WHERE ${own} AND ${inRange('e.id')} ORDER BY e.id DESC LIMIT ${scan.size}`,
      `SELECT e.partner_id, e.event_id FROM refunds e WHERE ${own} AND ${inRange('e.event_id')} ORDER BY e.event_id DESC LIMIT ${scan.size}`,
      `SELECT e.partner_id, e.id FROM archived_events_before(${partner}, ${bind(one)}, ${beyond}, ${before}, ${scan.size}) AS e`,
    ];
  });
  return union(events);
}

const union = (queries: string[]) => queries.map(query => `(${query})`).join(' UNION ALL ');

const stateConditions = {
  pending: 'd.event_id IS NOT NULL AND d.failed_at IS NULL',
  failed: 'd.failed_at IS NOT NULL',
  delivered: 'd.event_id IS NULL AND a.was_accepted',
};

function conditionsOf(filter: DeliveryFilter, bind: Bind): string[] {
  const { state, partnerId, endpointId, mode, outcome: kind, from, before } = filter;
  return [
    // Without a webhook at its time, an event has no delivery.
    state ? stateConditions[state] : '(d.event_id IS NOT NULL OR a.was_accepted)',
    ...(partnerId ? [`c.partner_id = ${bind(uuidFromId(partnerId))}`] : []),
    ...(endpointId ? [`k.endpoint_id = ${bind(uuidFromId(endpointId))}`] : []),
    ...(mode ? [`e.mode = ${bind(mode)}`] : []),
    ...(kind ? [`${outcome} = ${bind(kind)}`] : []),
    ...(from ? [`e.at >= ${bind(from)}`] : []),
    ...(before ? [`e.at < ${bind(before)}`] : []),
  ];
}
