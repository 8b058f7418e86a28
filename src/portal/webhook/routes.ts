import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { hasRight, listMemberships } from '../../partners/index.ts';
import {
  type Answer,
  badAddress,
  checkResult,
  done,
  endpointRow,
  Mode,
  Refused,
  refuse,
} from '../../web/index.ts';
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
import type { RouteDeps } from '../deps.ts';
import { refuseRight, whyNotAllowed } from '../guard.ts';
import { auditContextOf, get, post } from '../route.ts';

const below = '/webhook';
const Url = Type.String({ maxLength: 2_100 });
const Events = Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 10 });

export const show = get(below, 'integrate', {}, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const db = deps.readsOf(partnerId);
  const webhooks = await listWebhooks(db, partnerId);
  const states = await listEndpoints(db, deps.clock, [partnerId]);
  return {
    endpoints: webhooks.map(webhook => ({
      ...endpointRow(webhook, states),
      // Live before test.
      public_keys: keySetPathsOf(webhook),
      // Until then the secret before the last change signs as well.
      old_secret_until: webhook.oldSecretUntil?.toISOString() ?? null,
    })),
    event_kinds: [...eventKinds],
    max_endpoints: maxEndpoints,
  };
});

/** An endpoint of the partner of the request. */
async function find(request: FastifyRequest, deps: RouteDeps): Answer<Webhook> {
  const { endpoint_id } = request.params as { endpoint_id: string };
  const webhooks = await listWebhooks(deps.db, request.member.partner.partnerId);
  return webhooks.find(({ endpointId }) => endpointId === endpoint_id) ?? refuseMissing;
}

const refuseMissing = refuse(404, 'no_webhook', 'This endpoint does not exist any more.');

const readKinds = (names: string[]): EventKind[] => eventKinds.filter(kind => names.includes(kind));

const add = post(
  below,
  'integrate',
  { body: { url: Url, mode: Type.Optional(Mode), events: Type.Optional(Events) } },
  async (request, deps) => {
    const { partnerId } = request.member.partner;
    const { mode, events = [] } = request.body;
    const url = await readWebhookAddress(request.body.url, deps.webhookAllowPrivate);
    if (!url) return badAddress;
    const lost = await whyNotAllowed(deps, request);
    if (lost) return lost;
    const audit = auditContextOf(deps, request);
    const hasFirst = (await listWebhooks(deps.db, partnerId)).some(({ isFirst }) => isFirst);
    if (!hasFirst) {
      const outcome = await setWebhook(audit, deps.vault, partnerId, url, { isNew: true });
      if (outcome === 'exists')
        return refuse(409, outcome, 'A first endpoint was just added: reload the page.');
    } else {
      const kinds = readKinds(events);
      if (!mode || kinds.length === 0)
        return refuse(400, 'invalid_request', 'Choose a mode and at least one kind of events.');
      const { outcome } = await addEndpoint(audit, deps.vault, partnerId, { mode, url, events: kinds });
      if (outcome === 'too_many')
        return refuse(409, 'too_many_endpoints', `A mode has ${maxEndpoints} endpoints at most.`);
    }
    return done;
  },
);

const of = `${below}/:endpoint_id`;
const change = [
  post(`${of}/address`, 'integrate', { body: { url: Url } }, async (request, deps) => {
    const url = await readWebhookAddress(request.body.url, deps.webhookAllowPrivate);
    if (!url) return badAddress;
    const lost = await whyNotAllowed(deps, request);
    if (lost) return lost;
    const webhook = await find(request, deps);
    if (webhook instanceof Refused) return webhook;
    const outcome = await moveWebhook(auditContextOf(deps, request), webhook, url);
    return outcome === 'set' ? done : refuseMissing;
  }),
  post(`${of}/events`, 'integrate', { find, body: { events: Events } }, async (request, deps, webhook) => {
    const kinds = readKinds(request.body.events);
    const outcome = await setEvents(auditContextOf(deps, request), webhook, kinds);
    if (outcome === 'set') return done;
    if (outcome === 'no_webhook') return refuseMissing;
    return refuse(400, outcome, 'The first endpoint gets all events of the contract.');
  }),
  post(
    `${of}/ed25519`,
    'integrate',
    { find, body: { is_on: Type.Boolean() } },
    async (request, deps, webhook) => {
      const audit = auditContextOf(deps, request);
      const outcome = await setEd25519(audit, deps.keyring, webhook, request.body.is_on);
      return outcome === 'set' ? done : refuseMissing;
    },
  ),
  post(`${of}/remove`, 'integrate', { find }, async (request, deps, webhook) => {
    const outcome = await removeEndpoint(auditContextOf(deps, request), webhook);
    return outcome === 'removed' ? done : refuseMissing;
  }),
];

/** Secrets are read with POST: neither a link nor the history of a browser shows them. */
export const readNow = async ({ db, vault, clock }: RouteDeps, { partnerId, endpointId }: Webhook) => ({
  secrets: await readSecrets(db, vault, partnerId, clock.nowMs(), endpointId),
});
const secrets = [
  post(`${of}/secret`, 'integrate', { find }, (_request, deps, webhook) => readNow(deps, webhook)),
  post(`${of}/rotate`, 'integrate', { find }, async (request, deps, webhook) => {
    const { partnerId, endpointId } = webhook;
    const outcome = await rotateSecret(auditContextOf(deps, request), deps.vault, partnerId, {
      endpointId,
    });
    if (outcome === 'rotated') return readNow(deps, webhook);
    if (outcome === 'no_webhook') return refuseMissing;
    return refuse(409, outcome, 'The secret was changed less than a day ago.');
  }),
];

const check = post(`${of}/check`, 'integrate', { find }, async (request, deps, webhook) => {
  const { partnerId, endpointId } = webhook;
  const { sender, vault, keyring } = deps;
  // A check takes up to a minute: the member may have been removed meanwhile.
  const mayStillAct = async () => {
    const memberships = await listMemberships(deps.db, request.person.userId);
    const role = memberships.find(({ partner }) => partner.partnerId === partnerId)?.role;
    return role !== undefined && hasRight(role, 'integrate');
  };
  const audit = auditContextOf(deps, request);
  const result = await checkPartner({ audit, sender, vault, keyring }, partnerId, {
    endpointId,
    mayStillAct,
  });
  if (result.outcome === 'not_allowed') return refuseRight('integrate');
  if (result.outcome !== 'checked') return refuseMissing;
  return checkResult(result);
});

/** The endpoints of a partner: addresses, events, secrets, check. */
export const webhookRoutes = [show, add, ...change, ...secrets, check];
