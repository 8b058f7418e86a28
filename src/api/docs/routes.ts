import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiDeps } from '../deps.ts';
import { pageHeaders } from '../http/page-headers.ts';
import { sendStaticFile, staticMethods } from '../http/static-file.ts';
import { languageOf } from './locale.ts';
import type { ApiDocument } from './reference/document.ts';
import type { Site } from './site.ts';

/** Scripts, styles and images from our own files; the search fetches its index. */
const headers = pageHeaders([
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
]);

export type SiteOptions = Pick<
  ApiDeps,
  'clock' | 'telegramBotName' | 'publicUrl' | 'portal' | 'rendersDocsAhead'
>;

/** After the start, so that it is not delayed. */
const renderAfterMs = 1_000;

/** In English and in Russian. A page has one address per language, so that it needs no `Vary` and can be linked and kept. */
const landingPaths = ['/', '/ru', '/ru/'];
const pathsForPrograms = ['/favicon.ico', '/llms.txt', '/robots.txt'];

/** The landing pages, and the documentation under `/docs/`. */
export function siteRoutes(
  server: FastifyInstance,
  { clock, telegramBotName: botName, publicUrl, portal, rendersDocsAhead }: SiteOptions,
): void {
  let site: Promise<Site> | undefined;
  const open = () => {
    site ??= load().catch(error => {
      site = undefined;
      throw error;
    });
    return site;
  };

  /** In steps, with a turn for other requests after each: loading the renderer alone takes tens of milliseconds. */
  async function load(): Promise<Site> {
    await import('./markdown.ts');
    await nextTurn();
    const { createSite } = await import('./site.ts');
    await nextTurn();
    const document = server.swagger() as unknown as ApiDocument;
    await nextTurn();
    const [address] = server.addresses();
    const port = typeof address === 'object' ? address.port : undefined;
    const hasPortal = portal !== undefined;
    return createSite(document, { botName, publicUrl, hasPortal, ...(port === undefined ? {} : { port }) });
  }

  async function send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { find, has, missing } = await open();
    const path = pathOf(request.url);
    const file = await find(path);
    if (file) return sendStaticFile(request, reply.headers(headers), file);
    const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
    if (has(other)) return reply.redirect(other, 308);
    request.errorCode = 'not_found';
    return sendStaticFile(request, reply.status(404).headers(headers), missing(languageOf(path)));
  }

  if (rendersDocsAhead) {
    let cancel = () => {};
    server.addHook('onListen', async () => {
      // What cannot be rendered now is tried again when it is requested.
      const render = () => open().then(({ renderAll }) => renderAll());
      cancel = clock.timer(renderAfterMs, () => void render().catch(() => {}));
    });
    server.addHook('onClose', async () => cancel());
  }

  for (const url of [...landingPaths, ...pathsForPrograms, '/docs', '/docs/*'])
    server.route({ method: staticMethods, url, schema: { hide: true }, handler: send });
}

/** The path of a request target, also of one in absolute form, `http://host/docs/` (RFC 9112, 3.2.2). */
const pathOf = (target: string) => target.split('?', 1)[0]!.replace(/^https?:\/\/[^/]*/i, '') || '/';
