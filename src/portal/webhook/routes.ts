import type { FastifyInstance, FastifyReply } from 'fastify';
import Type from 'typebox';
import { listMemberships, roleIncludes } from '../../partners/index.ts';
import { Body, done, type Routes, refuse, typed } from '../../web/index.ts';
import {
  checkPartner,
  checkWebhookUrl,
  createNameLookup,
  findWebhook,
  hasPrivateAddress,
  listEndpoints,
  readSecrets,
  rotateSecret,
  setExtraEvents,
  setWebhook,
} from '../../webhooks/index.ts';
import { auditContextOf } from '../audit-context.ts';
import type { RouteDeps } from '../deps.ts';
import { refuseRole } from '../guard.ts';
import type { CheckResult, Secrets, WebhookPage } from '../shapes/webhook.ts';

const below = '/partners/:partner_id/webhook';
const config = { allows: 'developer' } as const;

/** The webhook of a partner: address, secret, events, check. */
export function webhookRoutes(scope: FastifyInstance, deps: RouteDeps): void {
  const routes = typed(scope);
  show(routes, deps);
  set(routes, deps);
  chooseEvents(routes, deps);
  secrets(routes, deps);
  check(routes, deps);
}

function show(routes: Routes, deps: RouteDeps): void {
  routes.get(below, { config }, async (request): Promise<WebhookPage> => {
    const { partnerId } = request.member.partner;
    const db = deps.readsOf(partnerId);
    const webhook = await findWebhook(db, partnerId);
    const endpoints = await listEndpoints(db, deps.clock, [partnerId]);
    return {
      webhook: webhook
        ? {
            url: webhook.url,
            state: endpoints.get(partnerId)?.state ?? 'active',
            waiting: webhook.waiting,
            given_up: webhook.givenUp,
            extra_events: webhook.extraEvents,
            old_secret_until: webhook.oldSecretUntil?.toISOString() ?? null,
          }
        : null,
    };
  });
}

function set(routes: Routes, deps: RouteDeps): void {
  const allowPrivate = deps.webhookAllowPrivate;
  routes.post(
    below,
    { config, schema: { body: Body({ url: Type.String({ maxLength: 2_100 }) }) } },
    async (request, reply) => {
      const verdict = checkWebhookUrl(request.body.url.trim(), { allowPrivate });
      const isFine =
        verdict.outcome === 'ok' &&
        (allowPrivate || !(await hasPrivateAddress(verdict.url.hostname, createNameLookup())));
      if (!isFine)
        return refuse(
          request,
          reply,
          400,
          'bad_address',
          'The address must begin with https:// and be reachable from the internet.',
        );
      const { partnerId } = request.member.partner;
      await setWebhook(auditContextOf(deps, request), deps.vault, partnerId, verdict.url.href);
      return done;
    },
  );
}

const noWebhook = 'Set the address of the webhook first.';

function chooseEvents(routes: Routes, deps: RouteDeps): void {
  routes.post(
    `${below}/events`,
    { config, schema: { body: Body({ refunds: Type.Boolean() }) } },
    async (request, reply) => {
      const { partnerId } = request.member.partner;
      const events = request.body.refunds ? (['payment.refunded'] as const) : [];
      const outcome = await setExtraEvents(auditContextOf(deps, request), partnerId, [...events]);
      return outcome === 'set' ? done : refuse(request, reply, 409, outcome, noWebhook);
    },
  );
}

/** Secrets are read with POST: neither a link nor the history of a browser shows them. */
function secrets(routes: Routes, deps: RouteDeps): void {
  const readNow = async (partnerId: Parameters<typeof readSecrets>[2]): Promise<Secrets> => ({
    secrets: await readSecrets(deps.db, deps.vault, partnerId, deps.clock.nowMs()),
  });

  routes.post(`${below}/secret`, { config }, async request => readNow(request.member.partner.partnerId));

  routes.post(`${below}/rotate`, { config }, async (request, reply): Promise<Secrets | FastifyReply> => {
    const { partnerId } = request.member.partner;
    const outcome = await rotateSecret(auditContextOf(deps, request), deps.vault, partnerId);
    if (outcome === 'rotated') return readNow(partnerId);
    const message = outcome === 'overlap' ? 'The secret was changed less than a day ago.' : noWebhook;
    return refuse(request, reply, 409, outcome, message);
  });
}

function check(routes: Routes, deps: RouteDeps): void {
  routes.post(`${below}/check`, { config }, async (request, reply): Promise<CheckResult | FastifyReply> => {
    const { partnerId } = request.member.partner;
    const { sender, vault } = deps;
    // A check takes up to a minute: the member may have been removed meanwhile.
    const mayStillAct = async () => {
      const memberships = await listMemberships(deps.db, request.person.userId);
      const role = memberships.find(({ partner }) => partner.partnerId === partnerId)?.role;
      return role !== undefined && roleIncludes(role, 'developer');
    };
    const audit = auditContextOf(deps, request);
    const result = await checkPartner({ audit, sender, vault }, partnerId, mayStillAct);
    if (result.outcome === 'not_allowed') return refuseRole(request, reply, 'developer');
    if (result.outcome !== 'checked') return refuse(request, reply, 409, 'no_webhook', noWebhook);
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
  });
}
