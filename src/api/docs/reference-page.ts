import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

/** The page brings its own scripts and styles; the policy keeps it from loading anything from other hosts. */
const policy =
  "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'";

const passedOn = ['content-type', 'location', 'cache-control', 'etag'] as const;

/**
 * The API reference at `/docs`. The page is megabytes of code, so it is loaded on the first request for it, into a
 * second Fastify instance that listens on no port.
 */
export function referenceRoutes(server: FastifyInstance): void {
  let opened: Promise<FastifyInstance> | undefined;
  server.addHook('onClose', async () => (await opened)?.close());

  const answer = async ({ url }: FastifyRequest, reply: FastifyReply) => {
    opened ??= openReference();
    const { statusCode, headers, rawPayload } = await (await opened).inject({ method: 'GET', url });
    if (statusCode === 404) return reply.callNotFound();
    for (const name of passedOn) if (headers[name] !== undefined) reply.header(name, headers[name]);
    return reply.code(statusCode).header('Content-Security-Policy', policy).send(rawPayload);
  };
  for (const url of ['/docs', '/docs/*']) server.get(url, { schema: { hide: true } }, answer);
}

async function openReference(): Promise<FastifyInstance> {
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
  await server.ready();
  return server;
}
