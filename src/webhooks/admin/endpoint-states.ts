import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { type Queryable, readRows, withIds } from '../../db/postgres/index.ts';
import type { EndpointRef } from '../first-endpoint.ts';

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

const severity = ['active', 'failing', 'suspended'] as const;

/** The worst of the states; undefined if there is no endpoint. */
export const worstState = (endpoints: Pick<Endpoint, 'state'>[]): Endpoint['state'] | undefined =>
  severity.findLast(state => endpoints.some(one => one.state === state));
