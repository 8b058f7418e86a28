import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { type Answer, refusal } from './answer.ts';
import { BadInput } from './input.ts';

const maxBodyBytes = 64 * 1024;

interface Received {
  params: string[];
  query: URLSearchParams;
  body: unknown;
}

export interface Route {
  method: string;
  path: RegExp;
  handle(received: Received): Answer | Promise<Answer>;
  /** The bearer token that the route requires; undefined: none. */
  token?: string | undefined;
}

export const route = (method: string, path: RegExp, handle: Route['handle']): Route => ({
  method,
  path,
  handle,
});

interface HttpServerOptions {
  routes: Route[];
  /** The host name or address that the server listens on. */
  host: string;
  /** Runs between every handler and its answer: nothing is answered before it is on disk. */
  beforeAnswer: () => Promise<void>;
}

export function createHttpServer({ routes, host, beforeAnswer }: HttpServerOptions): Server {
  const server = createServer(async (request, response) => {
    const answer = refuseForeign(request, host) ?? (await answerTo(routes, request).catch(errorAnswer));
    await beforeAnswer();
    send(response, answer);
  });
  // Longer than any client keeps an idle connection: otherwise a request could hit one that is just being closed.
  server.keepAliveTimeout = 120_000;
  return server;
}

async function answerTo(routes: Route[], request: IncomingMessage): Promise<Answer> {
  const address = `http://simulator${request.url}`;
  if (!URL.canParse(address)) return refusal(400, 'BAD_REQUEST', 'The request path cannot be parsed.');
  const { pathname, searchParams: query } = new URL(address);
  const known = routes.filter(({ path }) => path.test(pathname));
  const route = known.find(({ method }) => method === request.method);
  if (!known[0]) return refusal(404, 'NOT_FOUND', 'There is no such path.');
  if (!route) return refusal(405, 'METHOD_NOT_ALLOWED', `Use ${known.map(({ method }) => method)} here.`);
  if (route.token !== undefined && request.headers.authorization !== `Bearer ${route.token}`) {
    return refusal(401, 'UNAUTHORIZED', 'Send Authorization: Bearer with the token of this gateway.');
  }
  const bytes = await readBody(request);
  if (!bytes) return refusal(413, 'BODY_TOO_LARGE', `A body has at most ${maxBodyBytes} bytes.`);
  const body = parseBody(bytes);
  return route.handle({ params: route.path.exec(pathname)!.slice(1), query, body });
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  // The excess is read and discarded: a client that is cut off while sending would not see the answer.
  for await (const chunk of request) {
    sizeBytes += chunk.length;
    if (sizeBytes <= maxBodyBytes) chunks.push(chunk);
  }
  return sizeBytes <= maxBodyBytes ? Buffer.concat(chunks) : undefined;
}

function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new BadInput('The body is not JSON.');
  }
}

function errorAnswer(error: unknown): Answer {
  if (error instanceof BadInput) return refusal(400, 'BAD_REQUEST', error.message);
  // A client that disconnects during its request is normal.
  if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') console.error(error);
  return refusal(500, 'INTERNAL', 'The simulator has a bug: see its error output.');
}

function send(response: ServerResponse, { status, body, contentType, damage }: Answer): void {
  if (damage === 'lost') return void response.destroy();
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = isRaw ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
  const sentBytes = damage === 'cut' ? bytes.subarray(0, bytes.length >> 1) : bytes;
  response.writeHead(status, {
    'content-type':
      isRaw && contentType ? `${contentType}; charset=utf-8` : 'application/json; charset=utf-8',
    'content-length': sentBytes.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  });
  if (damage === 'stalled') response.flushHeaders();
  else response.end(sentBytes);
}

/**
 * A web page in a developer's browser reaches the simulator too. A name that its owner points at this machine (DNS
 * rebinding) would make the page read answers, and a request across origins would make payments and faults.
 */
function refuseForeign(request: IncomingMessage, listensOn: string): Answer | undefined {
  const { host = [] } = request.headersDistinct;
  if (host.length !== 1 || !isOwnHost(host[0]!, listensOn))
    return refusal(403, 'FOREIGN_HOST', 'Use the address of the simulator, or localhost, as the host.');
  if (isFromOtherOrigin(request, host[0]!) && !isNavigation(request))
    return refusal(403, 'FOREIGN_ORIGIN', 'Pages of another origin cannot use the simulator.');
  return undefined;
}

/** Nobody can point an IP address or `localhost` somewhere else. */
function isOwnHost(host: string, listensOn: string): boolean {
  if (!URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  const name = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(name) !== 0 || name === 'localhost' || name === listensOn.toLowerCase();
}

/** Browsers set both headers themselves; programs send neither. */
function isFromOtherOrigin({ headers }: IncomingMessage, host: string): boolean {
  const { origin, 'sec-fetch-site': site = 'none' } = headers;
  if (site !== 'same-origin' && site !== 'none') return true;
  return origin !== undefined && origin !== `http://${host}`;
}

/** Opening the page from a link elsewhere changes nothing. */
const isNavigation = ({ method, headers }: IncomingMessage) =>
  method === 'GET' && headers['sec-fetch-mode'] === 'navigate';
