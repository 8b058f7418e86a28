import Type from 'typebox';
import {
  deliveryDetail,
  deliveryRow,
  done,
  Mode,
  oneOf,
  paging,
  readEndpoint,
  refuse,
  unsearchable,
} from '../../web/index.ts';
import {
  findDelivery,
  formatEventId,
  listDeliveries,
  parseEventId,
  resendEvent,
} from '../../webhooks/index.ts';
import { auditContextOf, get, post } from '../route.ts';

const below = '/deliveries';
const endpoint_id = Type.Optional(Type.String({ maxLength: 100 }));
const Search = Type.Object({
  mode: Mode,
  state: Type.Optional(oneOf('pending', 'delivered', 'failed')),
  ...paging,
});

const list = get(below, 'developer', { query: Search }, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const { limit, after: cursor, mode, state } = request.query;
  const after = cursor === undefined ? undefined : parseEventId(cursor);
  if (cursor !== undefined && after === undefined) return unsearchable;
  const filter = { partnerId, mode, state };
  const page = await listDeliveries(deps.readsOf(partnerId), deps.clock, filter, { limit, after });
  return {
    data: page.deliveries.map(deliveryRow),
    next_cursor: page.next === null ? null : formatEventId(page.next),
  };
});

const show = get(`${below}/:event_id`, 'developer', { query: { endpoint_id } }, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const eventId = parseEventId(request.params.event_id);
  const endpoint = readEndpoint(request.query.endpoint_id);
  const isReadable = eventId !== undefined && endpoint !== null;
  const found = isReadable
    ? await findDelivery(deps.readsOf(partnerId), partnerId, eventId, endpoint)
    : undefined;
  if (!found) return refuse(404, 'not_found', 'Event not found.');
  return deliveryDetail(found, deliveryRow(found.delivery));
});

const resend = post(
  `${below}/:event_id/resend`,
  'developer',
  { body: { endpoint_id } },
  async (request, deps) => {
    const { partnerId } = request.member.partner;
    const eventId = parseEventId(request.params.event_id);
    const endpointId = readEndpoint(request.body.endpoint_id);
    const audit = auditContextOf(deps, request);
    const isReadable = eventId !== undefined && endpointId !== null;
    const result = isReadable
      ? await resendEvent(audit, eventId, { ofPartner: partnerId, endpointId })
      : undefined;
    if (!result || result.outcome === 'no_event') return refuse(404, 'not_found', 'Event not found.');
    if (result.outcome === 'no_webhook') return refuse(409, 'no_webhook', 'No endpoint gets such events.');
    if (result.outcome === 'several_endpoints')
      return refuse(409, result.outcome, 'There are several endpoints: choose one.');
    return done;
  },
);

/** The log of the webhook: what was sent, how it was answered, and sending it again. */
export const deliveryRoutes = [list, show, resend];
