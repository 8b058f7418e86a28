import { createHash } from 'node:crypto';
import { startBackgroundLoop } from '../../base/background-loop.ts';
import { type Clock, dayMs, instantOf } from '../../base/clock.ts';
import {
  findRow,
  findValue,
  hasRow,
  type Pool,
  type Queryable,
  readRows,
  readValue,
} from '../postgres/index.ts';

const pageSize = 1_000;
const noHash = '0'.repeat(64);

/** The end of the chain: how many records it has, and the hash of the last. */
export interface ChainHead {
  place: number;
  hash: string;
}

const hashOf = (previous: string, record: string) =>
  createHash('sha256').update(`${previous}\n${record}`).digest('hex');

export const formatHead = ({ place, hash }: ChainHead) => `${place}:${hash}`;

export async function readHead(db: Queryable): Promise<ChainHead> {
  const head = await findRow<ChainHead>(db, {
    text: `SELECT place::float8 AS place, encode(hash, 'hex') AS hash FROM audit_chain ORDER BY place DESC LIMIT 1`,
  });
  return head ?? { place: 0, hash: noHash };
}

/**
 * Gives the records that have none yet a place in the chain. It is not done where a record is written: a transaction would hold the
 * end of the chain until its commit, and all changes would wait for each other. A function does it with the rights of the schema's
 * owner, since no other role may write the chain.
 */
export async function extendChain(pool: Pool): Promise<void> {
  while (await readValue<boolean>(pool, { text: 'SELECT audit_chain_extend() AS "hasMore"' }));
}

/** The chain, page by page, with the records as they are now; null if one is gone. */
async function* readLinks(db: Queryable) {
  for (let after = 0; ; ) {
    const rows = await readRows<{ place: number; auditId: string; hash: string; record: string | null }>(db, {
      text: `SELECT c.place::float8 AS place, c.audit_id::text AS "auditId", encode(c.hash, 'hex') AS hash,
                    CASE WHEN a.id IS NOT NULL THEN audit_record(a) END AS record
               FROM audit_chain c LEFT JOIN audit a ON a.id = c.audit_id
              WHERE c.place > $1 ORDER BY c.place LIMIT ${pageSize}`,
      values: [after],
    });
    if (rows.length > 0) yield rows;
    if (rows.length < pageSize) return;
    after = rows.at(-1)!.place;
  }
}

export type ChainFault =
  | { fault: 'changed' | 'removed'; place: number; auditId: string }
  | { fault: 'gap'; place: number }
  | { fault: 'not_chained' | 'removed_before'; auditId: string }
  | { fault: 'shorter_than_head' | 'other_than_head'; place: number };

/**
 * Computes every hash anew and returns the first fault. `left` are heads that have left the database: without one, a chain of which the
 * end was cut off, or that was written anew as a whole, looks like a true one.
 */
export async function verifyChain(
  db: Queryable,
  left: ChainHead[],
): Promise<{ head: ChainHead; fault: ChainFault | undefined }> {
  let head: ChainHead = { place: 0, hash: noHash };
  const leftAt = Map.groupBy(left, ({ place }) => place);
  for await (const links of readLinks(db)) {
    for (const { place, auditId, hash, record } of links) {
      if (place !== head.place + 1) return { head, fault: { fault: 'gap', place: head.place + 1 } };
      if (record === null) return { head, fault: { fault: 'removed', place, auditId } };
      if (hashOf(head.hash, record) !== hash) return { head, fault: { fault: 'changed', place, auditId } };
      if (leftAt.get(place)?.some(one => one.hash !== hash))
        return { head, fault: { fault: 'other_than_head', place } };
      head = { place, hash };
    }
  }
  const beyond = left.find(({ place }) => place > head.place);
  if (beyond) return { head, fault: { fault: 'shorter_than_head', place: beyond.place } };
  const added = await findUnchained(db);
  if (added !== undefined) return { head, fault: { fault: 'not_chained', auditId: added } };
  const removed = await findRemovedBefore(db);
  return { head, fault: removed === undefined ? undefined : { fault: 'removed_before', auditId: removed } };
}

/** A record that was deleted while it waited for its place. */
const findRemovedBefore = (db: Queryable) =>
  findValue<string>(db, {
    text: `SELECT u.audit_id::text AS id FROM audit_unchained u
            WHERE NOT EXISTS (SELECT FROM audit a WHERE a.id = u.audit_id) ORDER BY u.audit_id LIMIT 1`,
  });

/** A record that was put in without the trigger. Those that wait for their place are not meant. */
const findUnchained = (db: Queryable) =>
  findValue<string>(db, {
    text: `SELECT a.id::text FROM audit a
            WHERE NOT EXISTS (SELECT FROM audit_chain c WHERE c.audit_id = a.id)
              AND NOT EXISTS (SELECT FROM audit_unchained u WHERE u.audit_id = a.id)
            ORDER BY a.id LIMIT 1`,
  });

/** Lines for a file that others can verify: a JSON object for each record up to this head, and at the end the head. */
export async function* exportChain(db: Queryable, head: ChainHead): AsyncGenerator<string> {
  let previous = noHash;
  let place = 0;
  for await (const links of readLinks(db)) {
    let lines = '';
    for (const link of links.filter(one => one.place <= head.place)) {
      const { hash, record } = link;
      lines += `${JSON.stringify({ place: link.place, previous, hash, record: record ?? '' })}\n`;
      ({ place } = link);
      previous = hash;
    }
    yield lines;
  }
  yield `${JSON.stringify({ head: { place, hash: previous } })}\n`;
}

interface ChainDeps {
  pool: Pool;
  clock: Clock;
  log: {
    info(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  /** Keeps the head outside of the database, when that is due. */
  keepHead?: (() => Promise<void>) | undefined;
}

const extendEveryMs = 10_000;
const askForHeadEveryMs = 60_000;

/** Extends the chain while this process runs, and logs its head once a day: in the log of one of the processes. */
export function startAuditChain({ pool, clock, log, keepHead }: ChainDeps): () => Promise<void> {
  let askForHeadMs = clock.monotonicMs();
  const loop = startBackgroundLoop({
    clock,
    everyMs: extendEveryMs,
    work: async () => {
      await extendChain(pool);
      if (clock.monotonicMs() < askForHeadMs) return;
      askForHeadMs = clock.monotonicMs() + askForHeadEveryMs;
      if (await isHeadDue(pool, clock))
        log.info({ audit_head: await readHead(pool) }, 'head of the audit log');
      await keepHead?.().catch(err => log.error({ err }, 'the head of the audit log could not be kept'));
    },
    onError: err => log.error({ err }, 'the audit log could not be chained'),
  });
  return loop.stop;
}

/** The first time as soon as there is a record. A time in the future, which somebody has set, does not stop it. */
const isHeadDue = (db: Queryable, clock: Clock) =>
  hasRow(db, {
    text: `UPDATE service SET audit_head_logged_at = $1
            WHERE (audit_head_logged_at IS NULL OR audit_head_logged_at <= $2 OR audit_head_logged_at > $3)
              AND EXISTS (SELECT FROM audit_chain)`,
    values: [instantOf(clock), new Date(clock.nowMs() - dayMs), new Date(clock.nowMs() + dayMs)],
  });
