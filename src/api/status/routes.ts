import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createTokenBuckets } from '../../base/token-buckets.ts';
import { networkOf } from '../../operators/index.ts';
import type { ApiDeps } from '../deps.ts';
import { type Assets, readAssets } from '../docs/assets.ts';
import { languages, localPath } from '../docs/locale.ts';
import { sendError } from '../http/errors.ts';
import { pageHeaders } from '../http/page-headers.ts';
import { staticMethods } from '../http/static-file.ts';
import { createServiceStatus, overallState, type ServiceStatus } from './service-status.ts';
import { statusPage, statusPath } from './status-page.ts';

/** The scripts and styles of the documentation, whose frame it has. */
const headers = pageHeaders(["script-src 'self'", "style-src 'self'", "img-src 'self'"]);

/** For one network: more than monitors and people need. */
const rate = { perSec: 2, burst: 60 };
const keptSec = 3;

/** Public, and without a partner's data: whether the service works now, for people at `/status` and for programs at `/status.json`. */
export function statusRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const readStatus = createServiceStatus(deps);
  const takeToken = createTokenBuckets(deps.clock, rate);
  let assets: Assets | undefined;

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    send: (status: ServiceStatus) => unknown,
  ) {
    const retryAfterSec = takeToken(networkOf(request.ip));
    if (retryAfterSec !== undefined)
      return sendError(request, reply.header('Retry-After', retryAfterSec), 'rate_limited');
    const status = await readStatus();
    reply.header('Cache-Control', `public, max-age=${keptSec}`);
    return reply.send(send(status));
  }

  server.route({
    method: staticMethods,
    url: '/status.json',
    schema: { hide: true },
    handler: (request, reply) =>
      answer(request, reply, status => ({ ...statusObject(status), request_id: request.id })),
  });
  for (const language of languages)
    server.route({
      method: staticMethods,
      url: localPath(statusPath, language),
      schema: { hide: true },
      handler: (request, reply) =>
        answer(request, reply, status => {
          assets ??= readAssets();
          reply.headers(headers).type('text/html; charset=utf-8');
          return statusPage(status, language, assets).text;
        }),
    });
}

const statusObject = (status: ServiceStatus) => {
  const { payments, webhooks, rate, maintenance, checkedAt } = status;
  return {
    status: overallState(status),
    components: { payments, webhooks, rate },
    // Null: the database does not answer.
    maintenance: maintenance
      ? {
          is_on: maintenance.isOn,
          windows: maintenance.windows.map(({ from, until }) => ({
            from: from.toISOString(),
            until: until.toISOString(),
          })),
        }
      : null,
    checked_at: checkedAt.toISOString(),
  };
};
