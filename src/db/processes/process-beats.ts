import type { Clock } from '../../base/clock.ts';
import { clockColumn, type Pool, type Queryable, type Statement } from '../postgres/index.ts';
import { pruneOlder } from '../retention/index.ts';

/** The secret keys of a process, as its beats report them. */
export interface ReportedKeys {
  keys: readonly { id: string }[];
  active(): { id: string };
  /** Called with the fingerprint of the key in use. False if this process does not have it. */
  follow(fingerprint: string): boolean;
}

export interface Beat {
  /** The fingerprint of the secret key in use. */
  active: string;
  nowMs: number;
}

/**
 * Commits the beat of this process, which says which secret keys it has. It waits for a synchronous standby as a payment does.
 * The same statement reads the clock: a second one each second was a sixth of what an idle process costs.
 */
export const commitBeat = (instance: number, keyring?: ReportedKeys): Statement => ({
  name: 'commit a beat',
  text: `INSERT INTO process_beats (instance, at, synchronous, key_ids, sealing_key)
         VALUES ($1, clock_timestamp(), current_setting('synchronous_standby_names') <> '', $2, $3)
         ON CONFLICT (instance) DO UPDATE SET at = excluded.at, synchronous = excluded.synchronous,
           key_ids = excluded.key_ids, sealing_key = excluded.sealing_key
         RETURNING (SELECT secret_key_fingerprint FROM service) AS active, ${clockColumn}`,
  values: [instance, keyring?.keys.map(({ id }) => id) ?? null, keyring?.active().id ?? null],
});

/** The newest row always stays: it is the last moment that is surely in this database. */
const isNotNewest = 'EXISTS (SELECT FROM process_beats n WHERE (n.at, n.instance) > (t.at, t.instance))';

const removeTimeoutMs = 1_000;

/** When the process ends. While commits hang the row stays, and is pruned. */
export const removeBeat = (session: Queryable, instance: number) =>
  session.query({
    text: `DELETE FROM process_beats t WHERE instance = $1 AND ${isNotNewest}`,
    values: [instance],
    query_timeout: removeTimeoutMs,
  });

/** Removes the beats of processes that died. */
export const pruneBeats = (pool: Pool, clock: Clock) =>
  pruneOlder(pool, clock, { table: 'process_beats', since: 'at', keptDays: 1, where: isNotNewest });
