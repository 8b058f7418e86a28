import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';

export interface Endpoint {
  partnerId: Id<'prt'>;
  endpointId: Id<'whe'>;
  url: string;
  /** `failing`: the last events were not accepted, and are sent again by the retry schedule. */
  state: 'active' | 'failing' | 'suspended';
}

/** After a failed attempt the next one is in the future, so the index of what is due shows whether there is such a delivery. */
const selectStates = `
  SELECT w.partner_id, w.endpoint_id AS endpoint, w.url,
         CASE WHEN w.suspended_at IS NOT NULL THEN 'suspended'
              WHEN w.given_up > 0 OR w.hanging OR EXISTS (
                     SELECT FROM deliveries d WHERE d.endpoint_id = w.endpoint_id AND d.failed_at IS NULL
                        AND d.next_at > $2 AND d.attempts > 0) THEN 'failing'
              ELSE 'active' END AS state
    FROM endpoints w WHERE w.partner_id = ANY ($1)`;

/** The endpoints of these partners. */
export async function listEndpoints(db: Queryable, clock: Clock, partners: Id<'prt'>[]): Promise<Endpoint[]> {
  const { rows } = await db.query<{
    partner_id: string;
    endpoint: string;
    url: string;
    state: Endpoint['state'];
  }>({
    text: selectStates,
    values: [partners.map(uuidFromId), instantOf(clock)],
  });
  return rows.map(({ partner_id, endpoint, url, state }) => ({
    partnerId: idFromUuid('prt', partner_id),
    endpointId: idFromUuid('whe', endpoint),
    url,
    state,
  }));
}

const severity = ['active', 'failing', 'suspended'] as const;

/** The worst of the states; undefined if there is no endpoint. */
export const worstState = (endpoints: Pick<Endpoint, 'state'>[]): Endpoint['state'] | undefined =>
  severity.findLast(state => endpoints.some(one => one.state === state));
