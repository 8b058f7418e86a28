import { afterAll } from 'vitest';
import { ping } from '../../src/api/account/routes.ts';
import { documentApi } from '../../src/api/docs/openapi.ts';
import type { SiteOptions } from '../../src/api/docs/routes.ts';
import { serve } from '../../src/api/http/endpoint.ts';
import { createFastify } from '../../src/api/http/fastify.ts';
import { validatorCompiler } from '../../src/api/http/validation.ts';
import { createPaymentEndpoint } from '../../src/api/payments/create-payment.ts';
import { getPayment } from '../../src/api/payments/routes.ts';
import { ErrorBody, Payment, ValidationErrorBody } from '../../src/api/shared-schemas.ts';
import { getStatement } from '../../src/api/statement/routes.ts';
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
  serve(server, ping, answer);
  serve(server, createPaymentEndpoint, answer);
  serve(server, getPayment, answer);
  serve(server, getStatement, answer);
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
    const links = isPage ? linksIn(text, response.url).filter(url => isOfSite(url, address)) : [];
    visited.set(path, { response, text, links });
    for (const { pathname } of links)
      if (!visited.has(pathname) && !waiting.includes(pathname)) waiting.push(pathname);
  }
  return visited;
}

/** The page of the status is served elsewhere. */
const isOfSite = ({ origin, pathname }: URL, address: string) =>
  origin === address && !pathname.endsWith('/status');

const linksIn = (html: string, base: string) =>
  Array.from(html.matchAll(/\s(?:href|src)="([^"]*)"/g), ([, target]) => new URL(target!, base));
