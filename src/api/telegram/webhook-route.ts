import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { sendError } from '../http/errors.ts';

/** Where Telegram posts the bot's updates, and the secret that it sends with them. */
export interface TelegramReceiver {
  path: string;
  secret: string;
  handle(update: object): Promise<void>;
}

const maxUpdateBytes = 1024 * 1024;
const digest = (text: string) => createHash('sha256').update(text).digest();

/** Without the secret the route answers as if it did not exist. */
export async function telegramWebhookRoute(
  server: FastifyInstance,
  { path, secret, handle }: TelegramReceiver,
): Promise<void> {
  const expected = digest(secret);
  await server.register(async scope => {
    scope.addHook('onRequest', async (request, reply) => {
      const sent = request.headers['x-telegram-bot-api-secret-token'];
      if (!timingSafeEqual(digest(`${sent}`), expected)) return sendError(request, reply, 'not_found');
    });
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'string', bodyLimit: maxUpdateBytes },
      async (_request: object, text: string) => readObject(text),
    );
    scope.post(
      path,
      { config: { isOutsideContract: true }, schema: { hide: true }, bodyLimit: maxUpdateBytes },
      async request => {
        // The parser is not called for an empty body.
        if (!request.body) throw malformed();
        await handle(request.body);
        return { ok: true };
      },
    );
  });
}

const malformed = () => Object.assign(new Error('not a JSON object'), { statusCode: 400 });

function readObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed();
  }
  if (typeof value !== 'object' || value === null) throw malformed();
  return value;
}
