import type { Clock } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import { findRow, type Queryable, readRow, type Stored } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';
import { findPayment } from '../../payments/index.ts';
import { envelope, eventHeaders, findRefundOf, formatEventId } from '../delivery/envelope.ts';
import { firstEndpointOf, isFirst } from '../first-endpoint.ts';
import { attemptsAt, type EventAttempt } from './attempt-log.ts';
import {
  type DeliveryFilter,
  deliveryColumns,
  deliveryJoins,
  deliveryStatement,
} from './delivery-statement.ts';
import { findEventRange } from './event-range.ts';

export interface Delivery {
  eventId: bigint;
  eventAt: Date;
  partnerId: Id<'prt'>;
  endpointId: Id<'whe'>;
  partnerName: string;
  mode: Mode;
  paymentId: Id<'pay'>;
  /** The partner's own number of the order. */
  externalId: string | null;
  outcome: 'succeeded' | 'failed' | 'refunded';
  /** `none`: the event was never queued, or all of it is more than thirty days ago. Lists have none of these. */
  state: 'pending' | 'delivered' | 'failed' | 'none';
  /** Since it was last queued: sending again starts with none. */
  attempts: number;
  nextAt: Date | null;
  lastAttempt: { at: Date; status: number | null; error: string | null } | null;
}

/** As in the search of payments: a few scans along an index, the first no larger than a page. */
const maxScanSize = 500;
const maxScans = 6;

/** Attempts are kept for thirty days; older events of a partner have nothing to show. */
const keptMs = 31 * 86_400_000;

/** Deliveries of the last thirty days, the newest event first. A page ends with the last delivery of an event. */
export async function listDeliveries(
  db: Queryable,
  clock: Clock,
  filter: DeliveryFilter,
  { limit, after }: { limit: number; after?: bigint | undefined },
): Promise<{
  deliveries: Delivery[];
  /** Where the next page begins; null when there is none. A page that is not full may have a next one. */
  next: bigint | null;
}> {
  const { state, partnerId, eventIds } = filter;
  if (eventIds?.length === 0) return { deliveries: [], next: null };
  const readsEvents = partnerId && !eventIds && state !== 'pending' && state !== 'failed';
  const from = filter.from ?? (readsEvents ? new Date(clock.nowMs() - keptMs) : undefined);
  const { beyond, end } = await findEventRange(db, filter, { from, before: filter.before });
  const found: DeliveryRow[] = [];
  let before = after !== undefined && after < end ? after : end;
  let size = limit + 1;
  for (let scans = 0; scans < maxScans; scans++) {
    const scan = { beyond, before, size, maxMatches: limit + 1 - found.length };
    const { rows } = await db.query<DeliveryRow & { scanned: number; last_id: bigint | null }>(
      deliveryStatement(filter, scan),
    );
    found.push(...rows.filter(({ eventId }) => eventId !== null));
    const { scanned, last_id: last } = rows[0]!;
    if (found.length > limit) {
      const { eventId: lastId } = found[limit - 1]!;
      const page = found.filter(({ eventId }) => eventId >= lastId);
      return { deliveries: page.map(toDelivery), next: lastId };
    }
    if (scanned < size) return { deliveries: found.map(toDelivery), next: null };
    before = last!;
    size = Math.min(size * 4, maxScanSize);
  }
  return { deliveries: found.map(toDelivery), next: before };
}

interface DeliveryRow
  extends Stored<Omit<Delivery, 'state' | 'attempts' | 'nextAt' | 'lastAttempt'>>,
    Pick<EventAttempt, 'status' | 'error'> {
  is_queued: boolean;
  attempts: number | null;
  next_at: Date | null;
  failed_at: Date | null;
  attempt: number | null;
  attempted_at: Date | null;
  was_accepted: boolean;
}

function toDelivery(row: DeliveryRow): Delivery {
  const { eventId, eventAt, partnerName, mode, outcome, externalId, attempted_at: at, status, error } = row;
  const state = stateOf(row);
  return {
    ...{ eventId, eventAt, partnerName, mode, outcome, externalId, state },
    partnerId: idFromUuid('prt', row.partnerId),
    endpointId: idFromUuid('whe', row.endpointId),
    paymentId: idFromUuid('pay', row.paymentId),
    attempts: row.attempts ?? row.attempt ?? 0,
    nextAt: state === 'pending' ? row.next_at : null,
    lastAttempt: at && { at, status, error },
  };
}

function stateOf(row: DeliveryRow): Delivery['state'] {
  if (row.is_queued) return row.failed_at ? 'failed' : 'pending';
  if (row.attempted_at === null) return 'none';
  return row.was_accepted ? 'delivered' : 'failed';
}

/** An event of a partner with its delivery to an endpoint, the first unless another is named. */
export async function findDelivery(
  db: Queryable,
  partnerId: Id<'prt'>,
  eventId: bigint,
  endpointId: Id<'whe'> = firstEndpointOf(partnerId),
) {
  const further = isFirst(partnerId, endpointId) ? undefined : endpointId;
  const row = await findRow<DeliveryRow>(db, {
    text: `SELECT ${deliveryColumns} FROM (SELECT $1::uuid AS partner_id, $2::bigint AS event_id) AS c ${deliveryJoins}
            WHERE k.endpoint_id = $3`,
    values: [uuidFromId(partnerId), eventId, uuidFromId(endpointId)],
  });
  if (!row) return undefined;
  const delivery = toDelivery(row);
  const payment = await findPayment(db, { partnerId, mode: row.mode }, delivery.paymentId);
  if (!payment) return undefined;
  const event = { eventId, payment, refund: await findRefundOf(db, { partnerId, mode: row.mode }, eventId) };
  const { 'x-service-signature': _, ...headers } = eventHeaders(event, '', further);
  return {
    delivery,
    /** As every attempt sends them. The signature is made for each attempt and not kept, so it is not among the headers. */
    headers: { ...headers, 'webhook-id': formatEventId(eventId) },
    body: envelope(event),
    /** Oldest first; those of the last thirty days. */
    attempts: await attemptsAt(db, { partnerId, eventId, endpointId }),
  };
}

interface DeliveryCounts {
  /** Not delivered yet. */
  waiting: number;
  /** Those of them with at least one failed attempt. */
  failing: number;
  givenUp: number;
  /** With at least one suspended endpoint. */
  suspendedPartners: number;
}

export const countDeliveries = (db: Queryable) =>
  readRow<DeliveryCounts>(db, {
    text: `SELECT count(*) FILTER (WHERE failed_at IS NULL)::int AS waiting,
                  count(*) FILTER (WHERE failed_at IS NULL AND attempts > 0)::int AS failing,
                  count(failed_at)::int AS "givenUp",
                  (SELECT count(DISTINCT partner_id)::int FROM endpoints WHERE suspended_at IS NOT NULL) AS "suspendedPartners"
             FROM deliveries`,
  });
