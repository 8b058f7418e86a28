import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { parseInstant } from '../../base/instants.ts';
import {
  deliveryDetail,
  deliveryRow,
  Instant,
  Mode,
  oneOf,
  paging,
  readEndpoint,
  readFields,
  refuse,
  Text,
  unsearchable,
} from '../../web/index.ts';
import {
  type Delivery,
  type DeliveryFilter,
  type Endpoint,
  findDelivery,
  formatEventId,
  listDeliveries,
  listEndpoints,
  parseEventId,
} from '../../webhooks/index.ts';
import { get } from '../route.ts';

const Search = Type.Object({
  state: Type.Optional(oneOf('pending', 'delivered', 'failed')),
  event: Type.Optional(oneOf('payment.succeeded', 'payment.failed', 'payment.refunded')),
  partner_id: Type.Optional(Type.String({ maxLength: 100 })),
  mode: Type.Optional(Mode),
  since: Type.Optional(Instant),
  until: Type.Optional(Instant),
  ...paging,
});

const findDeliveries = get('/deliveries', 'see', { query: Search }, async (request, { db, clock }) => {
  const { limit, after: cursor } = request.query;
  const filter = readFilter(request.query);
  const after = cursor === undefined ? undefined : parseEventId(cursor);
  if (!filter || (cursor !== undefined && after === undefined)) return unsearchable;
  const { deliveries, next } = await listDeliveries(db, clock, filter, { limit, after });
  const partners = [...new Set(deliveries.map(({ partnerId }) => partnerId))];
  const endpoints = await listEndpoints(db, clock, partners);
  return {
    data: deliveries.map(delivery => ownedRow(delivery, endpoints)),
    next_cursor: next === null ? null : formatEventId(next),
  };
});

const kinds = {
  'payment.succeeded': 'succeeded',
  'payment.failed': 'failed',
  'payment.refunded': 'refunded',
} as const;

/** Undefined when a field cannot be parsed. */
const readFilter = (query: Type.Static<typeof Search>): DeliveryFilter | undefined =>
  readFields(read => ({
    state: query.state,
    mode: query.mode,
    outcome: query.event && kinds[query.event],
    partnerId: read(query.partner_id, text => parseId('prt', text)),
    from: read(query.since, parseInstant),
    before: read(query.until, parseInstant),
  }));

export const showDelivery = get(
  '/deliveries/:partner_id/:event_id',
  'see',
  { query: { endpoint_id: Type.Optional(Text) } },
  async (request, { db, clock }) => {
    const partnerId = parseId('prt', request.params.partner_id);
    const eventId = parseEventId(request.params.event_id);
    const endpointId = readEndpoint(request.query.endpoint_id);
    const isReadable = partnerId && eventId !== undefined && endpointId !== null;
    const found = isReadable ? await findDelivery(db, partnerId, eventId, endpointId) : undefined;
    if (!found) return refuse(404, 'not_found', 'Event not found.');
    const { delivery } = found;
    const endpoints = await listEndpoints(db, clock, [delivery.partnerId]);
    return deliveryDetail(found, ownedRow(delivery, endpoints));
  },
);

export const ownedRow = (delivery: Delivery, endpoints: Endpoint[]) => ({
  ...deliveryRow(delivery),
  partner_id: delivery.partnerId,
  partner: delivery.partnerName,
  mode: delivery.mode,
  endpoint: endpointOf(delivery, endpoints),
});

/** Null when the endpoint was removed. */
function endpointOf({ endpointId }: Delivery, endpoints: Endpoint[]) {
  const found = endpoints.find(one => one.endpointId === endpointId);
  return found ? { url: found.url, state: found.state } : null;
}

/** Webhook deliveries of all partners, as a list and one by one. Sending again: see the events of partners. */
export const deliveryRoutes = [findDeliveries, showDelivery];
