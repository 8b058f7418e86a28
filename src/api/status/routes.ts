import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ApiDeps } from '../deps.ts';
import { type Assets, readAssets } from '../docs/assets.ts';
import { languages, localPath } from '../docs/locale.ts';
import { pageHeaders } from '../http/page-headers.ts';
import { staticMethods } from '../http/static-file.ts';
import { createServiceStatus, overallState, type ServiceStatus } from './service-status.ts';
import { statusPage, statusPath } from './status-page.ts';

/** The scripts and styles of the documentation, whose frame it has. */
const headers = pageHeaders(["script-src 'self'", "style-src 'self'", "img-src 'self'"]);

const keptSec = 3;

/** Public, and without a partner's data: whether the service works now, for people at `/status` and for programs at `/status.json`. */
export function statusRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const readStatus = createServiceStatus(deps);
  let assets: Assets | undefined;

  // No limit for an address: it costs what a page of the documentation does, and behind a proxy that is not trusted all visitors have one.
  async function answer(reply: FastifyReply, send: (status: ServiceStatus) => unknown) {
    const status = await readStatus();
    reply.header('Cache-Control', `public, max-age=${keptSec}`);
    return reply.send(send(status));
  }

  server.route({
    method: staticMethods,
    url: '/status.json',
    schema: { hide: true },
    handler: (request, reply) =>
      answer(reply, status => ({ ...statusObject(status), request_id: request.id })),
  });
  for (const language of languages)
    server.route({
      method: staticMethods,
      url: localPath(statusPath, language),
      schema: { hide: true },
      handler: (_request, reply) =>
        answer(reply, status => {
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
