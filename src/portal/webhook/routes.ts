import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { listMemberships, roleIncludes } from '../../partners/index.ts';
import { Body, done, Mode, type Routes, refuse, refuseAddress, typed } from '../../web/index.ts';
import {
  addEndpoint,
  checkPartner,
  type EventKind,
  eventKinds,
  keySetPathsOf,
  listEndpoints,
  listWebhooks,
  maxEndpoints,
  moveWebhook,
  readSecrets,
  readWebhookAddress,
  removeEndpoint,
  rotateSecret,
  setEd25519,
  setEvents,
  setWebhook,
  type Webhook,
} from '../../webhooks/index.ts';
import { auditContextOf } from '../audit-context.ts';
import type { RouteDeps } from '../deps.ts';
import { mayStillAct, refuseRole } from '../guard.ts';
import type { CheckResult, Secrets, WebhookPage } from '../shapes/webhook.ts';

const below = '/partners/:partner_id/webhook';
const config = { allows: 'developer' } as const;
const EndpointId = Type.Object({ endpoint_id: Type.String({ maxLength: 100 }) });
const Url = Type.String({ maxLength: 2_100 });
const Events = Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 10 });

/** The endpoints of a partner: addresses, events, secrets, check. */
export function webhookRoutes(scope: FastifyInstance, deps: RouteDeps): void {
  const routes = typed(scope);
  show(routes, deps);
  add(routes, deps);
  change(routes, deps);
  secrets(routes, deps);
  check(routes, deps);
}

function show(routes: Routes, deps: RouteDeps): void {
  routes.get(below, { config }, async (request): Promise<WebhookPage> => {
    const { partnerId } = request.member.partner;
    const db = deps.readsOf(partnerId);
    const webhooks = await listWebhooks(db, partnerId);
    const states = await listEndpoints(db, deps.clock, [partnerId]);
    return {
      endpoints: webhooks.map(webhook => ({
        endpoint_id: webhook.endpointId,
        is_first: webhook.isFirst,
        mode: webhook.mode,
        url: webhook.url,
        state: states.find(({ endpointId }) => endpointId === webhook.endpointId)?.state ?? 'active',
        waiting: webhook.waiting,
        given_up: webhook.givenUp,
        events: webhook.events,
        has_ed25519: webhook.ed25519,
        public_keys: keySetPathsOf(webhook),
        old_secret_until: webhook.oldSecretUntil?.toISOString() ?? null,
      })),
      event_kinds: [...eventKinds],
      max_endpoints: maxEndpoints,
    };
  });
}

/** An endpoint of the partner of the request; otherwise the request is answered. */
async function findOwn(
  deps: RouteDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Webhook | undefined> {
  const { endpoint_id } = request.params as { endpoint_id: string };
  const webhooks = await listWebhooks(deps.db, request.member.partner.partnerId);
  const found = webhooks.find(({ endpointId }) => endpointId === endpoint_id);
  if (!found) refuseMissing(request, reply);
  return found;
}

const refuseMissing = (request: FastifyRequest, reply: FastifyReply) =>
  refuse(request, reply, 404, 'no_webhook', 'This endpoint does not exist any more.');

const readKinds = (names: string[]): EventKind[] => eventKinds.filter(kind => names.includes(kind));

function add(routes: Routes, deps: RouteDeps): void {
  routes.post(
    below,
    {
      config,
      schema: { body: Body({ url: Url, mode: Type.Optional(Mode), events: Type.Optional(Events) }) },
    },
    async (request, reply) => {
      const { partnerId } = request.member.partner;
      const { mode, events = [] } = request.body;
      const url = await readWebhookAddress(request.body.url, deps.webhookAllowPrivate);
      if (!url) return refuseAddress(request, reply);
      if (!(await mayStillAct(deps, request, reply))) return reply;
      const audit = auditContextOf(deps, request);
      const hasFirst = (await listWebhooks(deps.db, partnerId)).some(({ isFirst }) => isFirst);
      if (!hasFirst) {
        const outcome = await setWebhook(audit, deps.vault, partnerId, url, { isNew: true });
        if (outcome === 'exists')
          return refuse(request, reply, 409, outcome, 'A first endpoint was just added: reload the page.');
      } else {
        const kinds = readKinds(events);
        if (!mode || kinds.length === 0)
          return refuse(
            request,
            reply,
            400,
            'invalid_request',
            'Choose a mode and at least one kind of events.',
          );
        const { outcome } = await addEndpoint(audit, deps.vault, partnerId, { mode, url, events: kinds });
        if (outcome === 'too_many')
          return refuse(
            request,
            reply,
            409,
            'too_many_endpoints',
            `A mode has ${maxEndpoints} endpoints at most.`,
          );
      }
      return done;
    },
  );
}

function change(routes: Routes, deps: RouteDeps): void {
  const of = `${below}/:endpoint_id`;
  routes.post(
    `${of}/address`,
    { config, schema: { params: EndpointId, body: Body({ url: Url }) } },
    async (request, reply) => {
      const url = await readWebhookAddress(request.body.url, deps.webhookAllowPrivate);
      if (!url) return refuseAddress(request, reply);
      if (!(await mayStillAct(deps, request, reply))) return reply;
      const webhook = await findOwn(deps, request, reply);
      if (!webhook) return reply;
      const outcome = await moveWebhook(auditContextOf(deps, request), webhook, url);
      return outcome === 'set' ? done : refuseMissing(request, reply);
    },
  );

  routes.post(
    `${of}/events`,
    { config, schema: { params: EndpointId, body: Body({ events: Events }) } },
    async (request, reply) => {
      const webhook = await findOwn(deps, request, reply);
      if (!webhook) return reply;
      const kinds = readKinds(request.body.events);
      const outcome = await setEvents(auditContextOf(deps, request), webhook, kinds);
      if (outcome === 'set') return done;
      if (outcome === 'no_webhook') return refuseMissing(request, reply);
      return refuse(request, reply, 400, outcome, 'The first endpoint gets all events of the contract.');
    },
  );

  routes.post(
    `${of}/ed25519`,
    { config, schema: { params: EndpointId, body: Body({ is_on: Type.Boolean() }) } },
    async (request, reply) => {
      const webhook = await findOwn(deps, request, reply);
      if (!webhook) return reply;
      const audit = auditContextOf(deps, request);
      const outcome = await setEd25519(audit, deps.keyring, webhook, request.body.is_on);
      return outcome === 'set' ? done : refuseMissing(request, reply);
    },
  );

  routes.post(`${of}/remove`, { config, schema: { params: EndpointId } }, async (request, reply) => {
    const webhook = await findOwn(deps, request, reply);
    if (!webhook) return reply;
    const outcome = await removeEndpoint(auditContextOf(deps, request), webhook);
    return outcome === 'removed' ? done : refuseMissing(request, reply);
  });
}

/** Secrets are read with POST: neither a link nor the history of a browser shows them. */
function secrets(routes: Routes, deps: RouteDeps): void {
  const readNow = async ({ partnerId, endpointId }: Webhook): Promise<Secrets> => ({
    secrets: await readSecrets(deps.db, deps.vault, partnerId, deps.clock.nowMs(), endpointId),
  });
  const of = `${below}/:endpoint_id`;
  const options = { config, schema: { params: EndpointId } };

  routes.post(`${of}/secret`, options, async (request, reply): Promise<Secrets | FastifyReply> => {
    const webhook = await findOwn(deps, request, reply);
    return webhook ? readNow(webhook) : reply;
  });

  routes.post(`${of}/rotate`, options, async (request, reply): Promise<Secrets | FastifyReply> => {
    const webhook = await findOwn(deps, request, reply);
    if (!webhook) return reply;
    const { partnerId, endpointId } = webhook;
    const outcome = await rotateSecret(auditContextOf(deps, request), deps.vault, partnerId, { endpointId });
    if (outcome === 'rotated') return readNow(webhook);
    if (outcome === 'no_webhook') return refuseMissing(request, reply);
    return refuse(request, reply, 409, outcome, 'The secret was changed less than a day ago.');
  });
}

function check(routes: Routes, deps: RouteDeps): void {
  routes.post(
    `${below}/:endpoint_id/check`,
    { config, schema: { params: EndpointId } },
    async (request, reply): Promise<CheckResult | FastifyReply> => {
      const webhook = await findOwn(deps, request, reply);
      if (!webhook) return reply;
      const { partnerId, endpointId } = webhook;
      const { sender, vault, keyring } = deps;
      // A check takes up to a minute: the member may have been removed meanwhile.
      const isStillDeveloper = async () => {
        const memberships = await listMemberships(deps.db, request.person.userId);
        const role = memberships.find(({ partner }) => partner.partnerId === partnerId)?.role;
        return role !== undefined && roleIncludes(role, 'developer');
      };
      const audit = auditContextOf(deps, request);
      const result = await checkPartner({ audit, sender, vault, keyring }, partnerId, {
        endpointId,
        mayStillAct: isStillDeveloper,
      });
      if (result.outcome === 'not_allowed') return refuseRole(request, reply, 'developer');
      if (result.outcome !== 'checked') return refuseMissing(request, reply);
      const { check: found, reEnabled } = result;
      return {
        can_receive: found.canReceive,
        passed: found.passed,
        re_enabled: reEnabled,
        results: found.results.map(({ name, expected, status, error, passed, durationMs }) => ({
          name,
          expected,
          answered: `${status ?? error}`,
          passed,
          duration_ms: durationMs,
        })),
      };
    },
  );
}
