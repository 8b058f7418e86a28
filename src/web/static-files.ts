import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Encoding, type StaticFile, sendStaticFile, staticMethods } from '../api/index.ts';
import type { WebApp } from './csrf.ts';
import { setSecurityHeaders } from './security-headers.ts';

/** Where `web/build.ts` puts the pages. */
export const builtPagesOf = (app: WebApp) =>
  join(import.meta.dirname, '..', '..', 'web', 'dist', app === 'console' ? '.' : app);

/** Everything else in the folder, such as the compressed copies and the digest of the sources, is not served by name. */
const typeOf: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'application/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/vnd.microsoft.icon',
  '.woff2': 'font/woff2',
};

/** A file of the folder or of `assets`. No part begins with a dot, so no path leaves the folder. */
const servedName = /^(?:assets\/)?[\w-][\w.-]*$/;

/** The names of assets contain a hash of their content; the page itself must be current. */
const cacheControlOf = (name: string) =>
  name.startsWith('assets/')
    ? 'public, max-age=31536000, immutable'
    : name.endsWith('.html')
      ? 'no-store'
      : 'public, max-age=3600';

/** Everything under `/console`, or `/portal`, that is not its API: the built pages. */
export function staticFileRoutes(scope: FastifyInstance, app: WebApp, folder: string): void {
  const find = openFolder(folder);
  scope.addHook('onRequest', async (_request, reply) => setSecurityHeaders(reply));

  const method = staticMethods;
  const schema = { hide: true };
  scope.route<{ Params: { '*'?: string } }>({
    method,
    url: '/*',
    schema,
    handler: async (request, reply) => {
      const { '*': name = '' } = request.params;
      // The pages route by themselves in the browser; only files have a dot.
      const file = await find(extname(name) === '' ? 'index.html' : name);
      return file ? sendStaticFile(request, reply, file) : sendMissing(reply, app, folder);
    },
  });
  scope.route({ method, url: '', schema, handler: (_request, reply) => reply.redirect(`/${app}/`, 308) });
}

/** Finds a file and keeps its bytes until it changes on disk, as it does when the pages are built again. */
function openFolder(folder: string): (name: string) => Promise<StaticFile | undefined> {
  const known = new Map<string, { version: string; file: StaticFile }>();
  return async name => {
    const type = typeOf[extname(name)];
    if (!type || !servedName.test(name)) return undefined;
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) return undefined;
    const version = `${found.ino} ${found.mtimeMs} ${found.size}`;
    const kept = known.get(name);
    if (kept?.version === version) return kept.file;
    const file = { type, cacheControl: cacheControlOf(name), variant: readOnce(path) };
    known.set(name, { version, file });
    return file;
  };
}

/** `web/build.ts` puts the compressed copies beside the file. */
const suffixOf: Record<Encoding, string> = { br: '.br', gzip: '.gz', identity: '' };

function readOnce(path: string): StaticFile['variant'] {
  const variants = new Map<Encoding, ReturnType<StaticFile['variant']>>();
  const read = (encoding: Encoding) =>
    readFile(path + suffixOf[encoding]).then(
      bytes => ({ bytes }),
      error => {
        variants.delete(encoding);
        if (encoding === 'identity') throw error;
        return undefined;
      },
    );
  return encoding => {
    const variant = variants.get(encoding) ?? read(encoding);
    variants.set(encoding, variant);
    return variant;
  };
}

function sendMissing(reply: FastifyReply, app: WebApp, folder: string): FastifyReply {
  reply.type('text/plain; charset=utf-8').header('Cache-Control', 'no-store');
  return existsSync(join(folder, 'index.html'))
    ? reply.status(404).send('Page not found.\n')
    : reply
        .status(503)
        .send(`The pages of the ${app} are not built: run \`npm run build\`, then load this again.\n`);
}
