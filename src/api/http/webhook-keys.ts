import type { FastifyInstance } from 'fastify';
import { keyObject, keySetPath, listPublicKeys, type PublicKey } from '../../webhooks/index.ts';
import type { ApiDeps } from '../deps.ts';

/** Anybody may ask, so the database is asked at most so often. */
const readAgainAfterMs = 5_000;

/** The public keys with which webhooks are signed. Not under `/v1`, and without a key: others verify signatures too. */
export function webhookKeyRoute(
  server: FastifyInstance,
  { pool, clock }: Pick<ApiDeps, 'pool' | 'clock'>,
): void {
  let known: { keys: Promise<PublicKey[]>; untilMs: number } | undefined;

  function read(): Promise<PublicKey[]> {
    const nowMs = clock.monotonicMs();
    if (known && nowMs < known.untilMs) return known.keys;
    const keys = listPublicKeys(pool);
    known = { keys, untilMs: nowMs + readAgainAfterMs };
    keys.catch(() => {
      if (known?.keys === keys) known = undefined;
    });
    return keys;
  }

  server.get(keySetPath, { schema: { hide: true } }, async (request, reply) => {
    void reply.header('cache-control', `public, max-age=${readAgainAfterMs / 1_000}`);
    return { keys: (await read()).map(keyObject), request_id: request.id };
  });
}
