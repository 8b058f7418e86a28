import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createStaticFile, type StaticFile, sendStaticFile, staticMethods } from '../http/static-file.ts';

/** The page brings its own scripts and styles; the policy keeps it from loading anything from other hosts. */
const policy =
  "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'";

/** The API reference at `/docs/`. It is megabytes of code, so it is loaded on the first request for it. */
export function referenceRoutes(server: FastifyInstance): void {
  let loaded: Promise<Record<string, StaticFile>> | undefined;
  const schema = { hide: true };
  server.get('/docs', { schema }, (_request, reply) => reply.redirect('/docs/', 301));
  for (const url of ['/docs/', '/docs/js/scalar.js']) {
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      loaded ??= loadReference();
      const { [url]: file } = await loaded;
      return sendStaticFile(request, reply.header('Content-Security-Policy', policy), file!);
    };
    server.route({ method: staticMethods, url, schema, handler });
  }
}

/** The files, from a second Fastify instance that listens on no port. */
async function loadReference(): Promise<Record<string, StaticFile>> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const server = Fastify();
  await server.register(scalar, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      title: 'Kopeck partner API',
      withDefaultFonts: false,
      telemetry: false,
      authentication: { preferredSecurityScheme: 'apiKey' },
      // These features send data to the vendor's services.
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
    },
  } as never);
  const load = async (url: string) => {
    const { rawPayload, headers } = await server.inject({ method: 'GET', url });
    return [url, createStaticFile(`${headers['content-type']}`, rawPayload)] as const;
  };
  const files = Object.fromEntries([await load('/docs/'), await load('/docs/js/scalar.js')]);
  await server.close();
  return files;
}
