import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { revokeKey, setAllowedAddresses } from '../../partners/index.ts';
import {
  checkResult,
  done,
  pageOf,
  paging,
  Refused,
  readAddresses,
  readEndpoint,
  readNumber,
  refuse,
  Text,
} from '../../web/index.ts';
import {
  checkPartner,
  formatEventId,
  listAttempts,
  parseEventId,
  resendEvent,
} from '../../webhooks/index.ts';
import { whyNotAllowed } from '../guard.ts';
import { auditContextOf, get, post } from '../route.ts';
import { partnerIdOf, partnerOf } from './rows.ts';

const maxAddresses = 100;

const revoke = post('/keys/:key_id/revoke', 'keys.revoke', {}, async (request, deps) => {
  const { outcome } = await revokeKey(auditContextOf(deps, request), request.params.key_id);
  if (outcome === 'no_key') return refuse(404, 'not_found', 'Key not found.');
  return outcome === 'revoked' ? done : refuse(409, outcome, 'The key is already revoked.');
});

const changeAllowedAddresses = post(
  '/keys/:key_id/addresses',
  'keys.addresses',
  { body: { allowed_addresses: Type.Array(Type.String({ maxLength: 100 }), { maxItems: maxAddresses }) } },
  async (request, deps) => {
    const addresses = readAddresses(request.body.allowed_addresses);
    if (addresses instanceof Refused) return addresses;
    const { outcome } = await setAllowedAddresses(
      auditContextOf(deps, request),
      request.params.key_id,
      addresses,
    );
    if (outcome === 'no_key') return refuse(404, 'not_found', 'Key not found.');
    if (outcome === 'already_revoked') return refuse(409, outcome, 'The key is already revoked.');
    return outcome === 'too_many_key_changes'
      ? refuse(409, outcome, 'The keys were changed too often today: try again tomorrow (UTC).')
      : done;
  },
);

const listDeliveries = get(
  '/partners/:id/deliveries',
  'see',
  { find: partnerIdOf, query: paging },
  async (request, deps, partnerId) => {
    const { limit, after = '' } = request.query;
    const attempts = await listAttempts(deps.db, partnerId, limit + 1, { before: readNumber(after) });
    return pageOf(attempts, limit, last => `${last.attemptId}`, attemptRow);
  },
);

const resend = post(
  '/events/:id/resend',
  'events.resend',
  { query: { partner_id: Type.Optional(Text), endpoint_id: Type.Optional(Text) } },
  async (request, deps) => {
    const eventId = parseEventId(request.params.id);
    const { partner_id } = request.query;
    // With its partner, an event is found without asking for it at each of them.
    const partnerId = partner_id === undefined ? undefined : parseId('prt', partner_id);
    const endpointId = readEndpoint(request.query.endpoint_id);
    const isReadable =
      eventId !== undefined && (partner_id === undefined || partnerId) && endpointId !== null;
    const result =
      isReadable &&
      (await resendEvent(auditContextOf(deps, request), eventId, { ofPartner: partnerId, endpointId }));
    if (!result || result.outcome === 'no_event') return refuse(404, 'not_found', 'Event not found.');
    if (result.outcome === 'no_webhook') return refuse(409, result.outcome, 'The partner has no webhook.');
    if (result.outcome === 'several_endpoints')
      return refuse(409, result.outcome, 'The partner has several endpoints: choose one.');
    return done;
  },
);

const checkWebhook = post(
  '/partners/:id/webhook/check',
  'webhooks.check',
  { find: partnerOf, query: { endpoint_id: Type.Optional(Text) } },
  async (request, deps, { partnerId }) => {
    const { sender, vault, keyring } = deps;
    const endpointId = readEndpoint(request.query.endpoint_id);
    if (endpointId === null) return refuse(404, 'not_found', 'Endpoint not found.');
    const audit = auditContextOf(deps, request);
    let lost: Refused | undefined;
    const result = await checkPartner({ audit, sender, vault, keyring }, partnerId, {
      endpointId,
      mayStillAct: async () => {
        lost = await whyNotAllowed(deps, request);
        return !lost;
      },
    });
    if (lost) return lost;
    if (result.outcome !== 'checked') return refuse(409, 'no_webhook', 'The partner has no webhook.');
    return checkResult(result);
  },
);

export const attemptRow = (attempt: Awaited<ReturnType<typeof listAttempts>>[number]) => ({
  event_id: formatEventId(attempt.eventId),
  endpoint_id: attempt.endpointId,
  payment_id: attempt.paymentId,
  attempt: attempt.attempt,
  at: attempt.at.toISOString(),
  status: attempt.status,
  error: attempt.error,
  duration_ms: attempt.durationMs,
});

/** API keys and webhooks of partners. */
export const connectionRoutes = [revoke, changeAllowedAddresses, listDeliveries, resend, checkWebhook];
