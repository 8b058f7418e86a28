import type { FastifyInstance } from 'fastify';
import { sharedRead } from '../../db/batching/index.ts';
import { describeOffset, exceeds, readValue } from '../../db/postgres/index.ts';
import type { ApiDeps } from '../deps.ts';

/** A machine with such a clock should get no requests until somebody has set it. */
const maxClockOffsetMs = 30_000;

const silent = 'the database does not answer';
/** Load balancers and probes give up soon. */
const maxWaitMs = 800;

/** Anybody may ask, so all who ask at once share a statement. A proxy may have found a standby since the last beat. */
const ask = sharedRead(async (db, questions: true[]) => {
  const text = `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly"`;
  const isReadOnly = await readValue<boolean>(db, { text });
  return questions.map(() => (isReadOnly ? 'the database is read-only' : undefined));
});

/**
 * `/healthz`: the process runs. `/readyz`: the database also answers and commits, and the machine has the right time. Both
 * answer within a second, whatever the database does. Without a worker that has a part of the archive the process is ready:
 * payments do not need it.
 */
export function healthRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const { pool, heartbeat, clock, clockOffset, draining, archive } = deps;
  const schema = { hide: true };
  server.get('/healthz', { schema }, () => ({ ok: true }));
  server.get('/readyz', { schema }, async (_request, reply) => {
    const named = archive?.nodes().length ? { unreachable_archive: archive.unreachable() } : {};
    const reason = await whyNotReady();
    return reason ? reply.status(503).send({ ok: false, reason, ...named }) : { ok: true, ...named };
  });

  async function whyNotReady(): Promise<string | undefined> {
    if (draining?.aborted) return 'the process is stopping';
    if (!heartbeat.isDatabaseAnswering()) return silent;
    const whyNone = heartbeat.whyNone();
    if (whyNone) return whyNone;
    const offset = clockOffset();
    if (exceeds(offset, maxClockOffsetMs)) return `${describeOffset(offset)}: set it by NTP`;
    const answered = new AbortController();
    const late = clock.sleep(maxWaitMs, answered.signal).then(() => silent);
    const asked = ask(pool, true).catch(() => silent);
    return Promise.race([asked, late]).finally(() => answered.abort());
  }
}
