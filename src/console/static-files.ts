import { existsSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { setSecurityHeaders } from './security-headers.ts';

/** Where `web/build.ts` puts the pages. */
export const builtPages = join(import.meta.dirname, '..', '..', 'web', 'dist');

/** Everything else in the folder, such as the compressed copies and the digest of the sources, is not served by name. */
const servedTypes = new Set(['.html', '.js', '.css', '.svg', '.png', '.ico', '.woff2']);

/** The names of assets contain a hash of their content; the page itself must be current. */
const cacheControlOf = (name: string) =>
  name.startsWith('assets/')
    ? 'public, max-age=31536000, immutable'
    : /\.html(\.br|\.gz)?$/.test(name)
      ? 'no-store'
      : 'public, max-age=3600';

/** Everything under `/console` that is not its API: the built pages. */
export async function staticFileRoutes(scope: FastifyInstance, folder: string): Promise<void> {
  // Here, so that processes without the console do not load it.
  const { default: fastifyStatic } = await import('@fastify/static');
  await scope.register(fastifyStatic, {
    root: folder,
    serve: false,
    suppressWarning: true,
    preCompressed: true,
    dotfiles: 'deny',
    allowedPath: path => servedTypes.has(extname(path)),
    acceptRanges: false,
    cacheControl: false,
    etag: false,
    lastModified: false,
    setHeaders: (reply, path) => reply.header('Cache-Control', cacheControlOf(relative(folder, path))),
  });
  scope.addHook('onRequest', async (_request, reply) => setSecurityHeaders(reply));
  scope.setNotFoundHandler((_request, reply) => sendMissing(reply, folder));
  // Dotfiles and paths that leave the folder are refused with a 4xx error; to the caller they do not exist.
  scope.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
    if ((error.statusCode ?? 500) >= 500) throw error;
    return sendMissing(reply, folder);
  });

  const schema = { hide: true };
  scope.get('/', { schema }, (request, reply) =>
    request.url.startsWith('/console/') ? reply.sendFile('index.html') : reply.redirect('/console/', 308),
  );
  scope.get<{ Params: { '*': string } }>('/*', { schema }, (request, reply) => {
    const name = request.params['*'];
    // The pages route by themselves in the browser; only files have a dot.
    return reply.sendFile(extname(name) === '' ? 'index.html' : name);
  });
}

function sendMissing(reply: FastifyReply, folder: string): FastifyReply {
  reply.type('text/plain; charset=utf-8').header('Cache-Control', 'no-store');
  return existsSync(join(folder, 'index.html'))
    ? reply.status(404).send('There is nothing at this address.\n')
    : reply
        .status(503)
        .send('The pages of the console are not built: run `npm run build`, then load this again.\n');
}
