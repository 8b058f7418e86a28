import Type from 'typebox';
import type { Id } from '../../base/ids.ts';
import {
  type Answer,
  deliveryDetail,
  deliveryFields,
  deliveryRow,
  deliveryState,
  done,
  eventCursor,
  failedCount,
  Mode,
  paging,
  Refused,
  readDeliveryFilter,
  readEndpoint,
  readEventCursor,
  refuse,
  resendBatch,
  resentBatch,
  SearchText,
  unsearchable,
} from '../../web/index.ts';
import {
  countFailed,
  type DeliveryFilter,
  findDelivery,
  findEventsOf,
  listDeliveries,
  parseEventId,
  resendEvent,
  resendFailedOf,
} from '../../webhooks/index.ts';
import type { RouteDeps } from '../deps.ts';
import { auditContextOf, get, post } from '../route.ts';

const below = '/deliveries';
const endpoint_id = Type.Optional(Type.String({ maxLength: 100 }));
const fields = { ...deliveryFields, mode: Mode, q: SearchText };
const Fields = Type.Object(fields);
const Search = Type.Object({ ...fields, ...deliveryState, ...paging });

/** `q` is the id of an event or of a payment, or the partner's number of the order. */
async function readFilter(
  { readsOf }: RouteDeps,
  partnerId: Id<'prt'>,
  query: Type.Static<typeof Fields>,
): Answer<DeliveryFilter> {
  const filter = readDeliveryFilter(query);
  if (!filter) return unsearchable;
  const { mode, q = '' } = query;
  const text = q.trim();
  if (text === '') return { ...filter, partnerId };
  const eventIds = await findEventsOf(readsOf(partnerId), { partnerId, mode }, text);
  return { ...filter, partnerId, eventIds };
}

const list = get(below, 'integrate', { query: Search }, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const { limit, state } = request.query;
  const after = readEventCursor(request.query.after);
  const filter = await readFilter(deps, partnerId, request.query);
  if (filter instanceof Refused) return filter;
  if (after === null) return unsearchable;
  const page = await listDeliveries(
    deps.readsOf(partnerId),
    deps.clock,
    { ...filter, state },
    { limit, after },
  );
  return { data: page.deliveries.map(deliveryRow), next_cursor: eventCursor(page.next) };
});

const showFailed = get(`${below}/failed`, 'integrate', { query: Fields }, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const filter = await readFilter(deps, partnerId, request.query);
  if (filter instanceof Refused) return filter;
  return failedCount(await countFailed(deps.readsOf(partnerId), deps.clock, filter));
});

const resendFailed = post(
  `${below}/resend-failed`,
  'integrate',
  { body: { ...fields, ...resendBatch } },
  async (request, deps) => {
    const { partnerId } = request.member.partner;
    const { max } = request.body;
    const after = readEventCursor(request.body.after);
    const filter = await readFilter(deps, partnerId, request.body);
    if (filter instanceof Refused) return filter;
    if (after === null) return unsearchable;
    const audit = auditContextOf(deps, request);
    return resentBatch(await resendFailedOf(audit, deps.readsOf(partnerId), filter, { after, max }));
  },
);

const show = get(`${below}/:event_id`, 'integrate', { query: { endpoint_id } }, async (request, deps) => {
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
  'integrate',
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
export const deliveryRoutes = [list, showFailed, show, resend, resendFailed];
