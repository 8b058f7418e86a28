import { type Queryable, readRow } from '../postgres/index.ts';

/** What tells one history of a database from another. */
export interface Identity {
  systemIdentifier: string;
  /** Undefined on a standby, which has no WAL of its own. */
  timeline: number | undefined;
  /** The newest on record; undefined in a database that no service has used yet. */
  incarnation: { number: number; token: string } | undefined;
}

/**
 * The timeline of the WAL that is being written: the one in the control file follows only with the next checkpoint after a
 * promotion.
 */
const serverQuery = `
  SELECT (pg_control_system()).system_identifier::text AS system,
         CASE WHEN NOT pg_is_in_recovery()
              THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline`;

const readNewest = 'SELECT number, token FROM incarnations ORDER BY number DESC LIMIT 1';

/** Reads the identity of the server and database of this session. The table must exist. */
export async function readIdentity(session: Queryable): Promise<Identity> {
  const { system, timeline, number, token } = await readRow<{
    system: string;
    timeline: number | null;
    number: number | null;
    token: string | null;
  }>(session, { text: `SELECT * FROM (${serverQuery}) AS s LEFT JOIN (${readNewest}) AS i ON true` });
  return {
    systemIdentifier: system,
    timeline: timeline ?? undefined,
    incarnation: number === null ? undefined : { number, token: token! },
  };
}

export const isSameIdentity = (one: Identity, other: Identity) =>
  one.systemIdentifier === other.systemIdentifier &&
  one.timeline === other.timeline &&
  one.incarnation?.number === other.incarnation?.number &&
  one.incarnation?.token === other.incarnation?.token;

/** A timeline that ended when a standby was promoted, or one whose newest incarnation is gone. */
export const isOlderHistory = (found: Identity, known: Identity) =>
  found.systemIdentifier === known.systemIdentifier &&
  (found.timeline === known.timeline
    ? (found.incarnation?.number ?? 0) < (known.incarnation?.number ?? 0)
    : found.timeline! < known.timeline!);

export const describeIdentity = ({ systemIdentifier, timeline, incarnation }: Identity) =>
  `server ${systemIdentifier}, timeline ${timeline ?? 'of a standby'}, incarnation ${incarnation?.number ?? 'none'}`;
