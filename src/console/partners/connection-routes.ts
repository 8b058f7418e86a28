import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { findPartner, isAddressRange, revokeKey, setAllowedAddresses } from '../../partners/index.ts';
import {
  Body,
  ById,
  done,
  pageOf,
  paging,
  type Routes,
  readEndpoint,
  readNumber,
  refuse,
  Text,
  typed,
} from '../../web/index.ts';
import {
  checkPartner,
  formatEventId,
  listAttempts,
  parseEventId,
  resendEvent,
} from '../../webhooks/index.ts';
import { auditContextOf } from '../audit-context.ts';
import type { ConsoleDeps } from '../deps.ts';
import { mayStillAct } from '../guard.ts';
import type { AttemptRow, CheckResult } from '../shapes/partners.ts';

const maxAddresses = 100;
const KeyId = Type.Object({ key_id: Type.String({ maxLength: 100 }) });

/** API keys and webhooks of partners. */
export function connectionRoutes(scope: FastifyInstance, deps: ConsoleDeps): void {
  const routes = typed(scope);
  revoke(routes, deps);
  changeAllowedAddresses(routes, deps);
  listDeliveries(routes, deps);
  resend(routes, deps);
  checkWebhook(routes, deps);
}

function revoke(routes: Routes, deps: ConsoleDeps): void {
  routes.post(
    '/keys/:key_id/revoke',
    { config: { needs: 'keys.revoke' }, schema: { params: KeyId } },
    async (request, reply) => {
      const { outcome } = await revokeKey(auditContextOf(deps, request), request.params.key_id);
      if (outcome === 'no_key') return refuse(request, reply, 404, 'not_found', 'Key not found.');
      return outcome === 'revoked'
        ? done
        : refuse(request, reply, 409, outcome, 'The key is already revoked.');
    },
  );
}

function changeAllowedAddresses(routes: Routes, deps: ConsoleDeps): void {
  routes.post(
    '/keys/:key_id/addresses',
    {
      config: { needs: 'keys.addresses' },
      schema: {
        params: KeyId,
        body: Body({
          allowed_addresses: Type.Array(Type.String({ maxLength: 100 }), { maxItems: maxAddresses }),
        }),
      },
    },
    async (request, reply) => {
      const addresses = request.body.allowed_addresses.map(address => address.trim());
      const wrong = addresses.find(address => !isAddressRange(address));
      if (wrong !== undefined) {
        const message = `"${wrong}" is not an IP address or range, such as 192.0.2.7 or 2001:db8::/32.`;
        return refuse(request, reply, 400, 'invalid_request', message);
      }
      const { outcome } = await setAllowedAddresses(
        auditContextOf(deps, request),
        request.params.key_id,
        addresses,
      );
      if (outcome === 'no_key') return refuse(request, reply, 404, 'not_found', 'Key not found.');
      if (outcome === 'already_revoked')
        return refuse(request, reply, 409, outcome, 'The key is already revoked.');
      return outcome === 'too_many_key_changes'
        ? refuse(
            request,
            reply,
            409,
            outcome,
            'The keys were changed too often today: try again tomorrow (UTC).',
          )
        : done;
    },
  );
}

function listDeliveries(routes: Routes, deps: ConsoleDeps): void {
  routes.get(
    '/partners/:id/deliveries',
    { config: { needs: 'see' }, schema: { params: ById, querystring: Type.Object(paging) } },
    async (request, reply) => {
      const { limit, after = '' } = request.query;
      const partnerId = parseId('prt', request.params.id);
      if (!partnerId) return refuse(request, reply, 404, 'not_found', 'Partner not found.');
      const attempts = await listAttempts(deps.db, partnerId, limit + 1, { before: readNumber(after) });
      return pageOf(attempts, limit, last => `${last.attemptId}`, attemptRow);
    },
  );
}

function resend(routes: Routes, deps: ConsoleDeps): void {
  routes.post(
    '/events/:id/resend',
    {
      config: { needs: 'events.resend' },
      schema: {
        params: ById,
        querystring: Type.Object({ partner_id: Type.Optional(Text), endpoint_id: Type.Optional(Text) }),
      },
    },
    async (request, reply) => {
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
      if (!result || result.outcome === 'no_event')
        return refuse(request, reply, 404, 'not_found', 'Event not found.');
      if (result.outcome === 'no_webhook')
        return refuse(request, reply, 409, result.outcome, 'The partner has no webhook.');
      if (result.outcome === 'several_endpoints')
        return refuse(request, reply, 409, result.outcome, 'The partner has several endpoints: choose one.');
      return done;
    },
  );
}

function checkWebhook(routes: Routes, deps: ConsoleDeps): void {
  routes.post(
    '/partners/:id/webhook/check',
    {
      config: { needs: 'webhooks.check' },
      schema: { params: ById, querystring: Type.Object({ endpoint_id: Type.Optional(Text) }) },
    },
    async (request, reply) => {
      const partnerId = parseId('prt', request.params.id);
      if (!partnerId || !(await findPartner(deps.db, partnerId)))
        return refuse(request, reply, 404, 'not_found', 'Partner not found.');
      const { sender, vault, keyring } = deps;
      const endpointId = readEndpoint(request.query.endpoint_id);
      if (endpointId === null) return refuse(request, reply, 404, 'not_found', 'Endpoint not found.');
      const audit = auditContextOf(deps, request);
      const result = await checkPartner({ audit, sender, vault, keyring }, partnerId, {
        endpointId,
        mayStillAct: () => mayStillAct(deps, request, reply),
      });
      if (result.outcome === 'not_allowed') return reply;
      if (result.outcome !== 'checked')
        return refuse(request, reply, 409, 'no_webhook', 'The partner has no webhook.');
      const { check, reEnabled } = result;
      const answer: CheckResult = {
        can_receive: check.canReceive,
        passed: check.passed,
        re_enabled: reEnabled,
        results: check.results.map(({ name, expected, status, error, passed, durationMs }) => ({
          name,
          expected,
          answered: `${status ?? error}`,
          passed,
          duration_ms: durationMs,
        })),
      };
      return answer;
    },
  );
}

const attemptRow = (attempt: Awaited<ReturnType<typeof listAttempts>>[number]): AttemptRow => ({
  event_id: formatEventId(attempt.eventId),
  endpoint_id: attempt.endpointId,
  payment_id: attempt.paymentId,
  attempt: attempt.attempt,
  at: attempt.at.toISOString(),
  status: attempt.status,
  error: attempt.error,
  duration_ms: attempt.durationMs,
});
