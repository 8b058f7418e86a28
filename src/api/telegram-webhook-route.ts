import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { sendError } from './errors.ts';

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

/** Where somebody outside brings us its news, and how it shows who it is. */
export interface UpdateDoor {
  path: string;
  secret: string;
  handle(update: object): Promise<void>;
}

const bodyLimit = 1024 * 1024;
const digest = (text: string) => createHash('sha256').update(text).digest();

/** To everybody who does not know the secret there is nothing here. */
export async function updateRoute(
  server: FastifyInstance,
  { path, secret, handle }: UpdateDoor,
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
      { parseAs: 'string', bodyLimit },
      async (_request: object, text: string) => readObject(text),
    );
    scope.post(
      path,
      { config: { isOutsideContract: true }, schema: { hide: true }, bodyLimit },
      async request => {
        // Without a body there was nothing to read.
        if (!request.body) throw malformed();
        await handle(request.body);
        return { ok: true };
      },
    );
  });
}
