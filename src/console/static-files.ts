import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

export const builtPages = join(import.meta.dirname, '..', '..', 'web', 'dist');

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

/**
 * The pages carry scripts and styles of their own as files and nothing inline; pictures may also stand in an address,
 * as the QR code of a new operator does. Nothing is loaded from elsewhere, and nobody puts them into a frame.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const switchedOff = ['camera', 'geolocation', 'microphone', 'payment', 'usb']
  .map(feature => `${feature}=()`)
  .join(', ');

/** On every answer of the console; those of its API carry no page, and lose nothing by it. */
export function protect(reply: FastifyReply): void {
  reply.headers({
    'Content-Security-Policy': policy,
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': switchedOff,
  });
}

interface PageFile {
  type: string;
  caching: string;
  body: Buffer;
  br: Buffer | undefined;
  gzip: Buffer | undefined;
}

/** Names of assets follow from what is in them, so that they never change; the page itself is asked for each time. */
const cachingOf = (name: string) =>
  name.startsWith('assets/')
    ? 'public, max-age=31536000, immutable'
    : name.endsWith('.html')
      ? 'no-store'
      : 'public, max-age=3600';

/** All of them, once: they are small, and a build meanwhile changes nothing for who has started. */
function readPages(folder: string): Map<string, PageFile> {
  const pages = new Map<string, PageFile>();
  if (!existsSync(join(folder, 'index.html'))) return pages;
  const read = (file: string) => (existsSync(file) ? readFileSync(file) : undefined);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const type = types[extname(file)];
    if (!entry.isFile() || !type) continue;
    const name = relative(folder, file).split(sep).join('/');
    const body = readFileSync(file);
    pages.set(name, {
      type,
      caching: cachingOf(name),
      body,
      br: read(`${file}.br`),
      gzip: read(`${file}.gz`),
    });
  }
  return pages;
}

/** Everything under `/console` that is not its API. */
export function pageRoutes(scope: FastifyInstance, folder: string): void {
  const pages = readPages(folder);
  const index = pages.get('index.html');
  const schema = { hide: true };

  scope.get('/', { schema }, async (request, reply) =>
    request.url.startsWith('/console/') ? show(request, reply, index) : reply.redirect('/console/', 308),
  );
  scope.get<{ Params: { '*': string } }>('/*', { schema }, async (request, reply) => {
    const name = request.params['*'];
    // Pages make their own way between addresses; only files have a dot.
    return show(request, reply, extname(name) === '' ? index : (pages.get(name) ?? missing));
  });

  function show(request: FastifyRequest, reply: FastifyReply, page: PageFile | undefined | typeof missing) {
    protect(reply);
    if (!index || !page) {
      reply.status(503).type('text/plain; charset=utf-8').header('Cache-Control', 'no-store');
      return reply.send('The pages of the console are not built: run `npm run build`, and start again.\n');
    }
    if (page === missing) {
      reply.status(404).type('text/plain; charset=utf-8').header('Cache-Control', 'no-store');
      return reply.send('There is nothing at this address.\n');
    }
    const accepted = `${request.headers['accept-encoding'] ?? ''}`;
    const encoding = (['br', 'gzip'] as const).find(one => page[one] && accepts(accepted, one));
    reply.type(page.type).header('Cache-Control', page.caching).header('Vary', 'Accept-Encoding');
    if (encoding) reply.header('Content-Encoding', encoding);
    return reply.send(encoding ? page[encoding] : page.body);
  }
}

const missing = 'missing';

const accepts = (accepted: string, encoding: string) =>
  accepted.split(',').some(one => {
    const [name, ...parameters] = one.split(';').map(part => part.trim());
    return name === encoding && !parameters.some(parameter => /^q=0(\.0*)?$/.test(parameter));
  });
