import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { pageHeaders } from '../http/page-headers.ts';
import { createStaticFile, type StaticFile, sendStaticFile, staticMethods } from '../http/static-file.ts';

/** The reference sets styles from its script, so those may be inline; scripts may not. */
const headers = pageHeaders([
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
]);

const title = 'Kopeck partner API';

/** Not the page of the package, whose start script is inline. */
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="app"></div>
<script src="/docs/js/scalar.js"></script>
<script src="/docs/js/start.js"></script>
</body>
</html>
`;

const configuration = {
  url: '/openapi.json',
  title,
  withDefaultFonts: false,
  telemetry: false,
  authentication: { preferredSecurityScheme: 'apiKey' },
  // These features send data to the vendor's services.
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
};

const javascript = 'application/javascript; charset=utf-8';

/** The API reference at `/docs/`. */
export function referenceRoutes(server: FastifyInstance): void {
  const schema = { hide: true };
  server.get('/docs', { schema }, (_request, reply) => reply.redirect('/docs/', 301));
  const start = `Scalar.createApiReference('#app', ${JSON.stringify(configuration)});\n`;
  const files: Record<string, () => Promise<StaticFile>> = {
    '/docs/': once(async () => createStaticFile('text/html; charset=utf-8', page)),
    '/docs/js/start.js': once(async () => createStaticFile(javascript, start)),
    '/docs/js/scalar.js': once(loadScript),
  };
  for (const [url, file] of Object.entries(files)) {
    const handler = async (request: FastifyRequest, reply: FastifyReply) =>
      sendStaticFile(request, reply.headers(headers), await file());
    server.route({ method: staticMethods, url, schema, handler });
  }
}

/** On the first request: the script is megabytes, and most processes are never asked for it. */
function once(make: () => Promise<StaticFile>): () => Promise<StaticFile> {
  let made: Promise<StaticFile> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The package gives its script only to a Fastify instance; this one listens on no port. */
async function loadScript(): Promise<StaticFile> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const server = Fastify();
  await server.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const { rawPayload } = await server.inject({ method: 'GET', url: '/docs/js/scalar.js' });
  await server.close();
  return createStaticFile(javascript, rawPayload);
}
