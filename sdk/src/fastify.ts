import { mostBytes, receive, type WebhookOptions } from './receive.ts';
import { signatureHeader } from './webhook.ts';

export type { WebhookOptions } from './receive.ts';

interface Request {
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
}

interface Reply {
  code(status: number): { send(body: unknown): unknown };
}

/** What is used of an instance. Fastify's own types of it are too many to be written here. */
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
 * `app.register(kopeckWebhook, { path: '/kopeck', secret, onEvent })`. Registered so, it keeps the raw body of this path
 * and leaves the rest of the program as it is.
 */
export async function kopeckWebhook(
  instance: Instance,
  { path, ...options }: WebhookOptions & { path: string },
): Promise<void> {
  const scope = instance as Methods;
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request, body) => body);
  scope.post(path, { bodyLimit: mostBytes }, async (request, reply) => {
    const raw = request.body instanceof Uint8Array ? request.body : '';
    const { status, body } = await receive(raw, request.headers[signatureHeader], options);
    return reply.code(status).send(body);
  });
}
