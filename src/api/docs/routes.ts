import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendError } from '../http/errors.ts';
import { pageHeaders } from '../http/page-headers.ts';
import { sendStaticFile, staticMethods } from '../http/static-file.ts';
import type { ApiDocument } from './reference/document.ts';
import type { Site } from './site.ts';

/** Scripts, styles and images from our own files; the search fetches its index. */
const headers = pageHeaders([
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
]);

/** The landing page at `/`, and the documentation under `/docs/`. */
export function siteRoutes(server: FastifyInstance): void {
  let site: Promise<Site> | undefined;
  // On the first request: most processes are never asked for a page, and loading the renderer takes time.
  const open = () => {
    site ??= import('./site.ts')
      .then(({ createSite }) => createSite(server.swagger() as unknown as ApiDocument))
      .catch(error => {
        site = undefined;
        throw error;
      });
    return site;
  };

  async function send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { find, has } = await open();
    const path = request.url.split('?', 1)[0]!;
    const file = await find(path);
    if (file) return sendStaticFile(request, reply.headers(headers), file);
    const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
    return has(other) ? reply.redirect(other, 308) : sendError(request, reply, 'not_found');
  }

  for (const url of ['/', '/docs', '/docs/*'])
    server.route({ method: staticMethods, url, schema: { hide: true }, handler: send });
}
