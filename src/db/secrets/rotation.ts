import type { Clock } from '../../base/clock.ts';
import { idFromUuid } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../audit/index.ts';
import { type Pool, type Queryable, readRows, readValue, transaction } from '../postgres/index.ts';
import { type LiveProcess, listLiveProcesses } from '../processes/index.ts';
import { type Keyring, keyIdOfFingerprint } from './keyring.ts';
import { isSealedBy, type SealedColumn, sealedColumns } from './sealed-values.ts';
import { createSealer } from './sealing.ts';

export type KeySwitch =
  | { outcome: 'switched'; from: string; to: string }
  | { outcome: 'in_use' }
  | { outcome: 'processes_lack_key'; processes: LiveProcess[] };

/** SECRET_KEY seals from now on, in every process. Refused while one runs that could not read what it seals. */
export async function switchKey(audit: AuditContext, keyring: Keyring): Promise<KeySwitch> {
  const next = keyring.keys[0]!;
  const result = await transaction<KeySwitch>(audit.pool, async tx => {
    const locked = { text: 'SELECT secret_key_fingerprint AS active FROM service FOR UPDATE' };
    const active = await readValue<string>(tx, locked);
    if (active === next.fingerprint) return { outcome: 'in_use' };
    const processes = (await listLiveProcesses(tx)).filter(({ keyIds }) => !keyIds?.includes(next.id));
    if (processes.length > 0) return { outcome: 'processes_lack_key', processes };
    await tx.query({ text: 'UPDATE service SET secret_key_fingerprint = $1', values: [next.fingerprint] });
    await tx.query({
      text: 'UPDATE secret_keys SET active_until = now() WHERE fingerprint = $1',
      values: [active],
    });
    await tx.query({
      text: `INSERT INTO secret_keys (id, fingerprint, is_first, active_from) VALUES ($1, $2, false, now())
             ON CONFLICT (id) DO UPDATE SET active_from = now(), active_until = NULL`,
      values: [next.id, next.fingerprint],
    });
    const from = keyIdOfFingerprint(active);
    await recordChange(tx, audit, {
      action: 'secret.rotate',
      subject: next.id,
      before: { secret_key: from },
      after: { secret_key: next.id },
    });
    return { outcome: 'switched', from, to: next.id };
  });
  if (result.outcome === 'switched') keyring.follow(next.fingerprint);
  return result;
}

/** Longer than the last beat of a process that has ended counts. */
const endedTimeoutMs = 15_000;

/** After a rolling restart: a process that has just ended is waited for, one that runs is not. */
export async function switchKeyWhenEnded(audit: AuditContext, keyring: Keyring): Promise<KeySwitch> {
  const startedMs = audit.clock.monotonicMs();
  for (;;) {
    const result = await switchKey(audit, keyring);
    const isLate = audit.clock.monotonicMs() - startedMs > endedTimeoutMs;
    if (result.outcome !== 'processes_lack_key' || isLate) return result;
    if (result.processes.some(({ isConnected }) => isConnected)) return result;
    await audit.clock.sleep(followPauseMs);
  }
}

const followTimeoutMs = 30_000;
const followPauseMs = 250;

/** The processes learn of the new key with their next beat. Until then they may seal with the old one. */
export async function findStragglers(pool: Pool, clock: Clock, keyring: Keyring): Promise<LiveProcess[]> {
  const isLate = ({ sealingKey }: LiveProcess) => sealingKey !== keyring.active().id;
  const startedMs = clock.monotonicMs();
  for (;;) {
    const late = (await listLiveProcesses(pool)).filter(isLate);
    if (late.length === 0 || clock.monotonicMs() - startedMs > followTimeoutMs) return late;
    await clock.sleep(followPauseMs);
  }
}

export interface Unreadable {
  what: SealedColumn['what'];
  id: string;
}

interface ResealOptions {
  batch: number;
  onProgress(done: number, of: number): void;
}

const lockedPauseMs = 200;
const maxLockedPauses = 50;

/**
 * Seals everything anew that another key than the active one has sealed. Each batch is a transaction, and what is done is
 * known from the values themselves: after a crash the next call goes on.
 */
export async function resealAll(
  { pool, clock }: { pool: Pool; clock: Clock },
  keyring: Keyring,
  { batch, onProgress }: ResealOptions,
): Promise<{ resealed: number; unreadable: Unreadable[] }> {
  const unreadable: Unreadable[] = [];
  const counts = await Promise.all(sealedColumns.map(column => countLeft(pool, column, keyring)));
  const of = counts.reduce((sum, count) => sum + count, 0);
  let resealed = 0;
  for (const column of sealedColumns) {
    const skipped: string[] = [];
    for (let pauses = 0; pauses <= maxLockedPauses; ) {
      const done = await resealBatch(pool, column, keyring, { batch, skipped });
      resealed += done;
      onProgress(resealed, of);
      if (done > 0) continue;
      if ((await countLeft(pool, column, keyring)) <= skipped.length) break;
      // Another transaction holds a row; its turn comes.
      pauses += 1;
      await clock.sleep(lockedPauseMs);
    }
    unreadable.push(...skipped.map(uuid => ({ what: column.what, id: idFromUuid(column.idKind, uuid) })));
  }
  return { resealed, unreadable };
}

const isLeft = ({ column, where = 'true' }: SealedColumn) =>
  `${where} AND v.${column} IS NOT NULL AND NOT ${isSealedBy(`v.${column}`, 'k')}`;

const countLeft = (db: Queryable, column: SealedColumn, keyring: Keyring) =>
  readValue<number>(db, {
    text: `SELECT count(*)::int AS count FROM ${column.table} v JOIN secret_keys k ON k.id = $1 WHERE ${isLeft(column)}`,
    values: [keyring.active().id],
  });

/** Returns how many were sealed anew. Those that no key opens are added to `skipped`. */
async function resealBatch(
  pool: Pool,
  sealed: SealedColumn,
  keyring: Keyring,
  { batch, skipped }: { batch: number; skipped: string[] },
): Promise<number> {
  const { table, column, id, idKind, purpose } = sealed;
  const sealer = createSealer(keyring, purpose);
  return transaction(pool, async tx => {
    const rows = await readRows<{ id: string; value: Buffer }>(tx, {
      text: `SELECT v.${id} AS id, v.${column} AS value FROM ${table} v JOIN secret_keys k ON k.id = $1
              WHERE ${isLeft(sealed)} AND v.${id} <> ALL ($2)
              ORDER BY v.${id} LIMIT $3 FOR UPDATE OF v SKIP LOCKED`,
      values: [keyring.active().id, skipped, batch],
    });
    const anew = rows.flatMap(row => {
      const subject = idFromUuid(idKind, row.id);
      try {
        return [{ id: row.id, value: sealer.seal(sealer.unseal(row.value, subject), subject) }];
      } catch {
        skipped.push(row.id);
        return [];
      }
    });
    await tx.query({
      text: `UPDATE ${table} v SET ${column} = n.value FROM unnest($1::uuid[], $2::bytea[]) AS n (id, value)
              WHERE v.${id} = n.id`,
      values: [anew.map(row => row.id), anew.map(({ value }) => value)],
    });
    return anew.length;
  });
}
