import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { isLabel } from '../../base/label.ts';
import { findPartner } from '../../partners/index.ts';
import {
  Body,
  ById,
  done,
  Mode,
  type Routes,
  readEndpoint,
  refuse,
  refuseAddress,
  Text,
  typed,
} from '../../web/index.ts';
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
import { auditContextOf } from '../audit-context.ts';
import type { ConsoleDeps } from '../deps.ts';
import { mayStillAct } from '../guard.ts';

const config = { needs: 'webhooks.change' } as const;
const Url = Type.String({ maxLength: 2_100 });
const Events = Type.Array(Type.Union(eventKinds.map(kind => Type.Literal(kind))), {
  minItems: 1,
  maxItems: eventKinds.length,
});
const reason = Text;
const ByEndpoint = Type.Object({
  id: Type.String({ maxLength: 100 }),
  endpoint_id: Type.String({ maxLength: 100 }),
});
const of = '/partners/:id/endpoints/:endpoint_id';

/** What support changes at the endpoints of a partner, each with a reason in the audit log. Secrets stay with the partner. */
export function endpointRoutes(scope: FastifyInstance, deps: ConsoleDeps): void {
  const routes = typed(scope);
  add(routes, deps);
  move(routes, deps);
  chooseEvents(routes, deps);
  switchEd25519(routes, deps);
  remove(routes, deps);
}

const refuseReason = (request: FastifyRequest, reply: FastifyReply) =>
  refuse(request, reply, 422, 'invalid_request', 'Enter a reason of 1 to 128 characters.');

const refuseMissing = (request: FastifyRequest, reply: FastifyReply) =>
  refuse(request, reply, 404, 'not_found', 'Endpoint not found.');

const auditWithReason = (deps: ConsoleDeps, request: FastifyRequest) => ({
  ...auditContextOf(deps, request),
  reason: (request.body as { reason: string }).reason.trim(),
});

/** The endpoint in the path, if it is one of this partner and the reason can be stored; otherwise the request is answered. */
async function findToChange(
  { db }: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Webhook | undefined> {
  const { id, endpoint_id } = request.params as Type.Static<typeof ByEndpoint>;
  if (!isLabel((request.body as { reason: string }).reason.trim())) {
    refuseReason(request, reply);
    return undefined;
  }
  const partnerId = parseId('prt', id);
  const endpointId = readEndpoint(endpoint_id);
  const found = partnerId && endpointId ? await findWebhook(db, partnerId, endpointId) : undefined;
  if (!found) refuseMissing(request, reply);
  return found;
}

function add(routes: Routes, deps: ConsoleDeps): void {
  routes.post(
    '/partners/:id/endpoints',
    { config, schema: { params: ById, body: Body({ url: Url, mode: Mode, events: Events, reason }) } },
    async (request, reply) => {
      const { mode, events } = request.body;
      if (!isLabel(request.body.reason.trim())) return refuseReason(request, reply);
      const partnerId = parseId('prt', request.params.id);
      if (!partnerId || !(await findPartner(deps.db, partnerId)))
        return refuse(request, reply, 404, 'not_found', 'Partner not found.');
      const url = await readWebhookAddress(request.body.url, deps.webhookAllowPrivate);
      if (!url) return refuseAddress(request, reply);
      if (!(await mayStillAct(deps, request, reply))) return reply;
      const audit = auditWithReason(deps, request);
      const kinds = eventKinds.filter(kind => (events as string[]).includes(kind));
      const { outcome } = await addEndpoint(audit, deps.vault, partnerId, { mode, url, events: kinds });
      if (outcome === 'added') return done;
      return refuse(request, reply, 409, outcome, `A mode has ${maxEndpoints} endpoints at most.`);
    },
  );
}

function move(routes: Routes, deps: ConsoleDeps): void {
  routes.post(
    `${of}/address`,
    { config, schema: { params: ByEndpoint, body: Body({ url: Url, reason }) } },
    async (request, reply) => {
      const webhook = await findToChange(deps, request, reply);
      if (!webhook) return reply;
      const url = await readWebhookAddress(request.body.url, deps.webhookAllowPrivate);
      if (!url) return refuseAddress(request, reply);
      if (!(await mayStillAct(deps, request, reply))) return reply;
      const outcome = await moveWebhook(auditWithReason(deps, request), webhook, url);
      return outcome === 'set' ? done : refuseMissing(request, reply);
    },
  );
}

function chooseEvents(routes: Routes, deps: ConsoleDeps): void {
  routes.post(
    `${of}/events`,
    { config, schema: { params: ByEndpoint, body: Body({ events: Events, reason }) } },
    async (request, reply) => {
      const webhook = await findToChange(deps, request, reply);
      if (!webhook) return reply;
      const kinds = eventKinds.filter(kind => (request.body.events as string[]).includes(kind));
      const outcome = await setEvents(auditWithReason(deps, request), webhook, kinds);
      if (outcome === 'set') return done;
      if (outcome === 'no_webhook') return refuseMissing(request, reply);
      return refuse(request, reply, 400, outcome, 'The first endpoint gets all events of the contract.');
    },
  );
}

function switchEd25519(routes: Routes, deps: ConsoleDeps): void {
  routes.post(
    `${of}/ed25519`,
    { config, schema: { params: ByEndpoint, body: Body({ is_on: Type.Boolean(), reason }) } },
    async (request, reply) => {
      const webhook = await findToChange(deps, request, reply);
      if (!webhook) return reply;
      const audit = auditWithReason(deps, request);
      const outcome = await setEd25519(audit, deps.keyring, webhook, request.body.is_on);
      return outcome === 'set' ? done : refuseMissing(request, reply);
    },
  );
}

function remove(routes: Routes, deps: ConsoleDeps): void {
  routes.post(
    `${of}/remove`,
    { config, schema: { params: ByEndpoint, body: Body({ reason }) } },
    async (request, reply) => {
      const webhook = await findToChange(deps, request, reply);
      if (!webhook) return reply;
      const outcome = await removeEndpoint(auditWithReason(deps, request), webhook);
      return outcome === 'removed' ? done : refuseMissing(request, reply);
    },
  );
}
