import { resolve } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Settings } from '../../base/settings.ts';
import { isBucketAddress, openStore, withFileErrors } from '../backup-store/index.ts';
import { findValue, type Pool, type Queryable, readRows } from '../postgres/index.ts';
import { type ChainHead, formatHead, readHead } from './audit-chain.ts';

export type AuditHeads = NonNullable<ReturnType<typeof openAuditHeads>>;

/** A head is the name of a file, so that a list has all of them. */
const nameOf = ({ place, hash }: ChainHead) => `${`${place}`.padStart(15, '0')}-${hash}`;

function headOf(name: string): ChainHead | undefined {
  const [, place, hash] = /^(\d{15})-([0-9a-f]{64})$/.exec(name) ?? [];
  return place === undefined || hash === undefined ? undefined : { place: Number(place), hash };
}

/**
 * Heads of the chain of the audit log, outside of the database: in the folder or bucket of AUDIT_HEADS, where its owner cannot change
 * them. A chain that was cut off or written anew looks like a true one; but it does not contain a head that has left before.
 */
export function openAuditHeads({ auditHeads, s3 }: Pick<Settings, 'auditHeads' | 's3'>) {
  if (auditHeads === undefined) return undefined;
  const address = isBucketAddress(auditHeads) ? auditHeads.replace(/\/$/, '') : resolve(auditHeads);
  const cut = address.lastIndexOf('/');
  const [folder, store] = [address.slice(cut + 1), openStore(address.slice(0, cut) || '/', s3)];
  return {
    /** As the operator writes it. */
    address,
    /** Kept forever. To keep the same head again changes nothing. */
    keep: async (head: ChainHead) => {
      const content = Buffer.from(`${formatHead(head)}\n`);
      await withFileErrors(() => store.writeNew(`${folder}/${nameOf(head)}`, content));
    },
    /** In the order of their places. */
    list: async () => {
      const names = await withFileErrors(() => store.list(folder));
      return names
        .map(headOf)
        .filter(head => head !== undefined)
        .sort((one, other) => one.place - other.place);
    },
  };
}

/**
 * Whether the chain contains the heads that were kept, in the order of their places. It compares stored hashes: that these are those of the records is for
 * `verifyChain`, which reads all of them.
 */
export async function compareHeads(db: Queryable, kept: ChainHead[]) {
  const missing = await readRows<ChainHead>(db, {
    text: `SELECT place::float8 AS place, hash FROM unnest($1::bigint[], $2::text[]) AS k (place, hash)
            WHERE NOT EXISTS (SELECT FROM audit_chain c WHERE c.place = k.place AND c.hash = decode(k.hash, 'hex'))
            ORDER BY place`,
    values: [kept.map(({ place }) => place), kept.map(({ hash }) => hash)],
  });
  const newest = kept.at(-1);
  // The first record that no kept head covers.
  const uncoveredSince = await findValue<Date>(db, {
    text: `SELECT a.at FROM audit_chain c JOIN audit a ON a.id = c.audit_id WHERE c.place > $1 ORDER BY c.place LIMIT 1`,
    values: [newest?.place ?? 0],
  });
  return { missing, newest, uncoveredSince };
}

const everyMs = 3_600_000;
const againMs = 60_000;

/**
 * A function to be called again and again. Every hour it keeps the head, if that has changed, and compares the chain with all that were
 * kept. Each process does so by its own clock: nothing in the database can keep it from it.
 */
export function createHeadKeeper(
  deps: { pool: Pool; clock: Clock; log: { error(details: object, message: string): void } },
  heads: AuditHeads,
): () => Promise<void> {
  const { pool, clock, log } = deps;
  let dueMs = Number.NEGATIVE_INFINITY;
  let last: string | undefined;
  return async () => {
    const nowMs = clock.monotonicMs();
    if (nowMs < dueMs) return;
    // If it fails.
    dueMs = nowMs + againMs;
    const head = await readHead(pool);
    if (head.place > 0 && formatHead(head) !== last) await heads.keep(head);
    last = formatHead(head);
    const { missing } = await compareHeads(pool, await heads.list());
    if (missing.length > 0)
      log.error(
        { audit_heads: missing.slice(0, 3) },
        'the audit log does not contain heads that were kept: run kopeck audit verify',
      );
    // Without a record there is nothing to keep yet.
    if (head.place > 0) dueMs = nowMs + everyMs;
  };
}
