import { afterAll } from 'vitest';
import { pingOperation } from '../../src/api/account/schemas.ts';
import { documentApi } from '../../src/api/docs/openapi.ts';
import type { SiteOptions } from '../../src/api/docs/routes.ts';
import { createFastify } from '../../src/api/http/fastify.ts';
import { validatorCompiler } from '../../src/api/http/validation.ts';
import { createPaymentOperation, getPaymentOperation } from '../../src/api/payments/schemas.ts';
import { ErrorBody, Payment, ValidationErrorBody } from '../../src/api/shared-schemas.ts';
import { getStatementOperation } from '../../src/api/statement/schemas.ts';
import { systemClock } from '../../src/base/clock.ts';

type Server = ReturnType<typeof createFastify>;

/** The documentation of some operations, without a database. */
export async function startSite(
  more: (server: Server) => Promise<void> = async () => {},
  options: Partial<SiteOptions> = {},
): Promise<string> {
  const server = createFastify({ clock: systemClock, trustProxy: [] });
  server.setValidatorCompiler(validatorCompiler);
  for (const schema of [Payment, ErrorBody, ValidationErrorBody]) server.addSchema(schema);
  await more(server);
  await documentApi(server, { clock: systemClock, ...options });
  const answer = async () => ({ ok: true });
  server.get('/v1/ping', { schema: pingOperation }, answer);
  server.post('/v1/payments', { schema: createPaymentOperation }, answer);
  server.get('/v1/payments/:payment_id', { schema: getPaymentOperation }, answer);
  server.get('/v1/statement', { schema: getStatementOperation }, answer);
  server.get('/healthz', { schema: { hide: true } }, answer);
  afterAll(() => server.close());
  return server.listen({ host: '127.0.0.1', port: 0 });
}

export interface Visited {
  response: Response;
  text: string;
  /** Without those to other hosts. */
  links: URL[];
}

/** Everything that can be reached from the landing page, by path; what leads there and is not found is in it too. */
export async function crawl(address: string): Promise<Map<string, Visited>> {
  const visited = new Map<string, Visited>();
  const waiting = ['/'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const response = await fetch(address + path, { redirect: 'manual' });
    const text = await response.text();
    const isPage = response.headers.get('content-type')?.startsWith('text/html');
    const links = isPage ? linksIn(text, response.url).filter(({ origin }) => origin === address) : [];
    visited.set(path, { response, text, links });
    for (const { pathname } of links)
      if (!visited.has(pathname) && !waiting.includes(pathname)) waiting.push(pathname);
  }
  return visited;
}

const linksIn = (html: string, base: string) =>
  Array.from(html.matchAll(/\s(?:href|src)="([^"]*)"/g), ([, target]) => new URL(target!, base));
