import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { isLabel } from '../../base/label.ts';
import { findPartner } from '../../partners/index.ts';
import { type Answer, badAddress, done, Mode, oneOf, readEndpoint, refuse, Text } from '../../web/index.ts';
import {
  addEndpoint,
  eventKinds,
  findWebhook,
  maxEndpoints,
  moveWebhook,
  readWebhookAddress,
  removeEndpoint,
  setEd25519,
  setEvents,
  type Webhook,
} from '../../webhooks/index.ts';
import type { ConsoleDeps } from '../deps.ts';
import { whyNotAllowed } from '../guard.ts';
import { auditContextOf, post } from '../route.ts';
import { noPartner } from './rows.ts';

const Url = Type.String({ maxLength: 2_100 });
const Events = Type.Array(oneOf(...eventKinds), { minItems: 1, maxItems: eventKinds.length });
const reason = Text;
const of = '/partners/:id/endpoints/:endpoint_id';

const refuseReason = refuse(422, 'invalid_request', 'Enter a reason of 1 to 128 characters.');

const refuseMissing = refuse(404, 'not_found', 'Endpoint not found.');

const auditWithReason = (deps: ConsoleDeps, request: FastifyRequest) => ({
  ...auditContextOf(deps, request),
  reason: (request.body as { reason: string }).reason.trim(),
});

/** The endpoint in the path, if it is one of this partner and the reason can be stored. */
async function find(request: FastifyRequest, { db }: ConsoleDeps): Answer<Webhook> {
  const { id, endpoint_id } = request.params as { id: string; endpoint_id: string };
  if (!isLabel((request.body as { reason: string }).reason.trim())) return refuseReason;
  const partnerId = parseId('prt', id);
  const endpointId = readEndpoint(endpoint_id);
  const found = partnerId && endpointId ? await findWebhook(db, partnerId, endpointId) : undefined;
  return found ?? refuseMissing;
}

const add = post(
  '/partners/:id/endpoints',
  'webhooks.change',
  { body: { url: Url, mode: Mode, events: Events, reason } },
  async (request, deps) => {
    const { mode, events } = request.body;
    if (!isLabel(request.body.reason.trim())) return refuseReason;
    const partnerId = parseId('prt', request.params.id);
    if (!partnerId || !(await findPartner(deps.db, partnerId))) return noPartner;
    const url = await readWebhookAddress(request.body.url, deps.webhookAllowPrivate);
    if (!url) return badAddress;
    const lost = await whyNotAllowed(deps, request);
    if (lost) return lost;
    const audit = auditWithReason(deps, request);
    const kinds = eventKinds.filter(kind => events.includes(kind));
    const { outcome } = await addEndpoint(audit, deps.vault, partnerId, { mode, url, events: kinds });
    if (outcome === 'added') return done;
    return refuse(409, outcome, `A mode has ${maxEndpoints} endpoints at most.`);
  },
);

const move = post(
  `${of}/address`,
  'webhooks.change',
  { find, body: { url: Url, reason } },
  async (request, deps, webhook) => {
    const url = await readWebhookAddress(request.body.url, deps.webhookAllowPrivate);
    if (!url) return badAddress;
    const lost = await whyNotAllowed(deps, request);
    if (lost) return lost;
    const outcome = await moveWebhook(auditWithReason(deps, request), webhook, url);
    return outcome === 'set' ? done : refuseMissing;
  },
);

const chooseEvents = post(
  `${of}/events`,
  'webhooks.change',
  { find, body: { events: Events, reason } },
  async (request, deps, webhook) => {
    const kinds = eventKinds.filter(kind => request.body.events.includes(kind));
    const outcome = await setEvents(auditWithReason(deps, request), webhook, kinds);
    if (outcome === 'set') return done;
    if (outcome === 'no_webhook') return refuseMissing;
    return refuse(400, outcome, 'The first endpoint gets all events of the contract.');
  },
);

const switchEd25519 = post(
  `${of}/ed25519`,
  'webhooks.change',
  { find, body: { is_on: Type.Boolean(), reason } },
  async (request, deps, webhook) => {
    const audit = auditWithReason(deps, request);
    const outcome = await setEd25519(audit, deps.keyring, webhook, request.body.is_on);
    return outcome === 'set' ? done : refuseMissing;
  },
);

const remove = post(
  `${of}/remove`,
  'webhooks.change',
  { find, body: { reason } },
  async (request, deps, webhook) => {
    const outcome = await removeEndpoint(auditWithReason(deps, request), webhook);
    return outcome === 'removed' ? done : refuseMissing;
  },
);

/** What support changes at the endpoints of a partner, each with a reason in the audit log. Secrets stay with the partner. */
export const endpointRoutes = [add, move, chooseEvents, switchEd25519, remove];
