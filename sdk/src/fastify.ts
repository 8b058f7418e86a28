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

interface Scope {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: '*',
    options: { parseAs: 'buffer' },
    parser: (request: never, body: never) => Promise<unknown>,
  ): unknown;
  post(
    path: string,
    options: { bodyLimit: number },
    handler: (request: Request, reply: Reply) => Promise<unknown>,
  ): unknown;
}

/**
 * `app.register(kopeckWebhook, { path: '/kopeck', secret, onEvent })`. Registered so, it keeps the raw body of this path
 * and leaves the rest of the program as it is.
 */
export async function kopeckWebhook(
  scope: Scope,
  { path, ...options }: WebhookOptions & { path: string },
): Promise<void> {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: unknown) => body);
  scope.post(path, { bodyLimit: mostBytes }, async (request, reply) => {
    const raw = request.body instanceof Uint8Array ? request.body : '';
    const { status, body } = await receive(raw, request.headers[signatureHeader], options);
    return reply.code(status).send(body);
  });
}
