import type { FastifyInstance } from 'fastify';
import { describeOffset, exceeds } from '../../db/database-clock.ts';
import { sharedRead } from '../../db/shared-read.ts';
import type { ApiDeps } from '../deps.ts';

/** A machine with such a clock should get no requests until somebody has set it. */
const maxClockOffsetMs = 30_000;

/** Anybody may ask, so all who ask at once share a statement. */
const ping = sharedRead(async (db, questions: true[]) => {
  await db.query({ text: 'SELECT 1' });
  return questions;
});

/** `/healthz`: the process runs. `/readyz`: it can also reach the database, and its machine has the right time. */
export function healthRoutes(
  server: FastifyInstance,
  { pool, heartbeat, clockOffset }: Pick<ApiDeps, 'pool' | 'heartbeat' | 'clockOffset'>,
): void {
  const schema = { hide: true };
  server.get('/healthz', { schema }, () => ({ ok: true }));
  server.get('/readyz', { schema }, async (_request, reply) => {
    const reason = await whyNotReady();
    return reason ? reply.status(503).send({ ok: false, reason }) : { ok: true };
  });

  async function whyNotReady(): Promise<string | undefined> {
    const silent = 'the database does not answer';
    // A query to a database that does not answer would hang.
    if (!heartbeat.isDatabaseAnswering()) return silent;
    const offset = clockOffset();
    if (exceeds(offset, maxClockOffsetMs)) return `${describeOffset(offset)}: set it by NTP`;
    return ping(pool, true).then(
      () => undefined,
      () => silent,
    );
  }
}
