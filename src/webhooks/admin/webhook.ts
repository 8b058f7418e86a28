import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { findRow, type Queryable, readRows, withIds } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';
import { type EndpointRef, firstEndpointOf, isFirst } from '../first-endpoint.ts';

export const eventKinds = ['payment.succeeded', 'payment.failed', 'payment.refunded'] as const;
export type EventKind = (typeof eventKinds)[number];

/** What an endpoint gets unless it asks for something else: the events of the contract. */
export const contractEvents: EventKind[] = ['payment.succeeded', 'payment.failed'];

/** An endpoint: where a partner receives the events of its payments. */
export interface Webhook extends EndpointRef {
  /** The webhook of the contract: it gets both modes, and all events of the contract. */
  isFirst: boolean;
  /** Null: both. */
  mode: Mode | null;
  url: string;
  state: 'active' | 'suspended';
  suspendedAt: Date | null;
  /** The last attempt failed, and only after a long time. */
  hanging: boolean;
  /** Events still to be sent. */
  waiting: number;
  /** Events whose attempts have all failed. */
  givenUp: number;
  oldSecretUntil: Date | null;
  changedAt: Date;
  /** The kinds of events that it gets. */
  events: EventKind[];
  /** Whether requests are also signed with the service's own key. */
  ed25519: boolean;
}

const selectEndpoints = `
  SELECT w.partner_id AS "partnerId", w.endpoint_id AS "endpointId", w.mode, w.url, w.suspended_at AS "suspendedAt", w.hanging, d.waiting, d.given_up AS "givenUp",
         w.old_secret_until AS "oldSecretUntil", w.changed_at AS "changedAt", w.events, w.ed25519
    FROM endpoints w
   CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE d.failed_at IS NULL)::int AS waiting, count(d.failed_at)::int AS given_up
                         FROM deliveries d WHERE d.endpoint_id = w.endpoint_id) AS d`;

/** All endpoints of a partner: the first one, then those of live and of test mode. */
export async function listWebhooks(db: Queryable, partnerId: Id<'prt'>): Promise<Webhook[]> {
  const rows = await readRows(db, {
    text: `${selectEndpoints} WHERE w.partner_id = $1 ORDER BY w.mode NULLS FIRST, w.number`,
    values: [uuidFromId(partnerId)],
  });
  return rows.map(toWebhook);
}

/** An endpoint of this partner; without an id, its first. */
export async function findWebhook(
  db: Queryable,
  partnerId: Id<'prt'>,
  endpointId: Id<'whe'> = firstEndpointOf(partnerId),
): Promise<Webhook | undefined> {
  const row = await findRow(db, {
    text: `${selectEndpoints} WHERE w.partner_id = $1 AND w.endpoint_id = $2`,
    values: [uuidFromId(partnerId), uuidFromId(endpointId)],
  });
  return row && toWebhook(row);
}

const readEndpoint = withIds<Omit<Webhook, 'isFirst' | 'state'>>({ partnerId: 'prt', endpointId: 'whe' });

function toWebhook(row: object): Webhook {
  const endpoint = readEndpoint(row);
  const state = endpoint.suspendedAt ? 'suspended' : 'active';
  return { ...endpoint, isFirst: isFirst(endpoint.partnerId, endpoint.endpointId), state };
}

/** How records of the audit log name an endpoint; the first is just the webhook of its partner. */
export const nameInAudit = (partnerId: Id<'prt'>, endpointId: Id<'whe'>): { endpoint_id?: string } =>
  isFirst(partnerId, endpointId) ? {} : { endpoint_id: endpointId };

export interface Endpoint extends EndpointRef {
  url: string;
  /** `failing`: the last events were not accepted, and are sent again by the retry schedule. */
  state: 'active' | 'failing' | 'suspended';
}

/** The endpoints of these partners. */
export async function listEndpoints(db: Queryable, clock: Clock, partners: Id<'prt'>[]): Promise<Endpoint[]> {
  const rows = await readRows(db, {
    // After a failed attempt the next one is in the future, so the index of what is due shows whether there is such a delivery.
    text: `SELECT w.partner_id AS "partnerId", w.endpoint_id AS "endpointId", w.url,
                  CASE WHEN w.suspended_at IS NOT NULL THEN 'suspended'
                       WHEN w.given_up > 0 OR w.hanging OR EXISTS (
                              SELECT FROM deliveries d WHERE d.endpoint_id = w.endpoint_id AND d.failed_at IS NULL
                                 AND d.next_at > $2 AND d.attempts > 0) THEN 'failing'
                       ELSE 'active' END AS state
             FROM endpoints w WHERE w.partner_id = ANY ($1)`,
    values: [partners.map(uuidFromId), instantOf(clock)],
  });
  return rows.map(withIds<Endpoint>({ partnerId: 'prt', endpointId: 'whe' }));
}

/** The partners of these endpoints; one that was removed has none. */
export async function partnersOf(
  db: Queryable,
  endpoints: Id<'whe'>[],
): Promise<ReadonlyMap<string, Id<'prt'>>> {
  if (endpoints.length === 0) return new Map();
  const rows = await readRows(db, {
    text: `SELECT endpoint_id AS "endpointId", partner_id AS "partnerId" FROM endpoints WHERE endpoint_id = ANY ($1)`,
    values: [endpoints.map(uuidFromId)],
  });
  const read = withIds<EndpointRef>({ endpointId: 'whe', partnerId: 'prt' });
  return new Map(rows.map(read).map(({ endpointId, partnerId }) => [endpointId, partnerId]));
}

const severity = ['active', 'failing', 'suspended'] as const;

/** The worst of the states; undefined if there is no endpoint. */
export const worstState = (endpoints: Pick<Endpoint, 'state'>[]): Endpoint['state'] | undefined =>
  severity.findLast(state => endpoints.some(one => one.state === state));
