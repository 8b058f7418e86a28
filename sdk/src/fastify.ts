import { maxBytes, receive, type WebhookOptions } from './receive.ts';

export type { WebhookOptions } from './receive.ts';

interface Request {
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
}

interface Reply {
  code(status: number): { send(body: unknown): unknown };
}

/** The methods of an instance that are used. Declared here, so that the library needs no types of Fastify. */
interface Methods {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: '*',
    options: { parseAs: 'buffer' },
    parser: (request: unknown, body: unknown) => Promise<unknown>,
  ): unknown;
  post(
    path: string,
    options: { bodyLimit: number },
    handler: (request: Request, reply: Reply) => Promise<unknown>,
  ): unknown;
}
type Instance = Record<keyof Methods, (...args: never[]) => unknown>;

/**
 * `app.register(kopeckWebhook, { path: '/kopeck', secret, onEvent })`. It keeps the raw body for this path only; other
 * routes are not affected.
 */
export async function kopeckWebhook(
  instance: Instance,
  { path, ...options }: WebhookOptions & { path: string },
): Promise<void> {
  const scope = instance as Methods;
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request, body) => body);
  scope.post(path, { bodyLimit: maxBytes }, async (request, reply) => {
    const raw = request.body instanceof Uint8Array ? request.body : '';
    const { status, body } = await receive(raw, request.headers, options);
    return reply.code(status).send(body);
  });
}
