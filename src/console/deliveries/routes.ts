import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import {
  deliveryDetail,
  deliveryFields,
  deliveryRow,
  deliveryState,
  eventCursor,
  failedCount,
  paging,
  readDeliveryFilter,
  readEndpoint,
  readEventCursor,
  refuse,
  resendBatch,
  resentBatch,
  Text,
  unsearchable,
} from '../../web/index.ts';
import {
  countFailed,
  type Delivery,
  type DeliveryFilter,
  type Endpoint,
  findDelivery,
  listDeliveries,
  listEndpoints,
  parseEventId,
  resendFailedOf,
} from '../../webhooks/index.ts';
import { auditContextOf, get, post } from '../route.ts';

const fields = { ...deliveryFields, partner_id: Type.Optional(Type.String({ maxLength: 100 })) };
const Fields = Type.Object(fields);

/** Undefined when a field cannot be parsed. */
function readFilter(query: Type.Static<typeof Fields>): DeliveryFilter | undefined {
  const filter = readDeliveryFilter(query);
  if (!filter || !query.partner_id) return filter;
  const partnerId = parseId('prt', query.partner_id);
  return partnerId && { ...filter, partnerId };
}

const Search = Type.Object({ ...fields, ...deliveryState, ...paging });

const findDeliveries = get('/deliveries', 'see', { query: Search }, async (request, { db, clock }) => {
  const { limit, state } = request.query;
  const filter = readFilter(request.query);
  const after = readEventCursor(request.query.after);
  if (!filter || after === null) return unsearchable;
  const { deliveries, next } = await listDeliveries(db, clock, { ...filter, state }, { limit, after });
  const partners = [...new Set(deliveries.map(({ partnerId }) => partnerId))];
  const endpoints = await listEndpoints(db, clock, partners);
  return {
    data: deliveries.map(delivery => ownedRow(delivery, endpoints)),
    next_cursor: eventCursor(next),
  };
});

const countFailedDeliveries = get(
  '/deliveries/failed',
  'see',
  { query: Fields },
  async (request, { db, clock }) => {
    const filter = readFilter(request.query);
    return filter ? failedCount(await countFailed(db, clock, filter)) : unsearchable;
  },
);

const resendFailedDeliveries = post(
  '/deliveries/resend-failed',
  'events.resend',
  { body: { ...fields, ...resendBatch } },
  async (request, deps) => {
    const filter = readFilter(request.body);
    const after = readEventCursor(request.body.after);
    if (!filter || after === null) return unsearchable;
    const { max } = request.body;
    return resentBatch(await resendFailedOf(auditContextOf(deps, request), deps.db, filter, { after, max }));
  },
);

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

/** Webhook deliveries of all partners, as a list and one by one, and all that failed again. Sending one again: see the events of partners. */
export const deliveryRoutes = [findDeliveries, countFailedDeliveries, resendFailedDeliveries, showDelivery];
