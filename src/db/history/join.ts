import { type Clock, instantOf } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { findRow, type Queryable } from '../postgres/index.ts';
import { type Identity, readIdentity } from './identity.ts';

export type Cause = 'first_start' | 'promotion' | 'restore' | 'copy';

/** What the one who opens the database knows about it. */
export interface Origin {
  /** Where the files of the embedded server are; undefined for an outside server. */
  place: string | undefined;
  /** The operator, or the mark of `kopeck restore`, says that commits may be missing. */
  isRestored: boolean;
}

/**
 * Numbers go on where no history can have come by now: at as many as this per millisecond since a fixed day. So a second
 * history that begins from the same backup does not give out what the first one has given out.
 */
const numbersPerMs = 100n;
const firstDayMs = Date.UTC(2026, 0, 1);
export const firstFreeNumber = (nowMs: number) =>
  BigInt(Math.max(0, Math.floor(nowMs - firstDayMs))) * numbersPerMs;

/**
 * Joins the current incarnation, or begins the next one if this database is not the one that it was: then payments wait
 * until what may be missing was found at the gateway.
 */
export async function joinIncarnation(
  { pool, clock }: { pool: Queryable; clock: Clock },
  origin: Origin,
): Promise<Identity> {
  const found = await readIdentity(pool);
  if (found.timeline === undefined)
    throw new OperatorError(
      'The database is a read-only standby: set DATABASE_URL to the primary, or to both with target_session_attrs=read-write.',
    );
  const current = await readCurrent(pool);
  const cause = causeOf(found, current, origin);
  const expected = current?.number ?? 0;
  if (cause) {
    const { at: certainAt, synchronous } = await readCertainMoment(pool, instantOf(clock));
    await pool.query({
      text: 'SELECT FROM incarnation_begin($1, $2, $3, $4, $5, $6, $7, $8, $9)',
      values: [
        expected,
        found.systemIdentifier,
        found.timeline,
        origin.place ?? null,
        cause,
        certainAt,
        cause === 'promotion' && synchronous,
        cause === 'first_start' ? null : firstFreeNumber(clock.nowMs()),
        instantOf(clock),
      ],
    });
  }
  return readIdentity(pool);
}

function causeOf(
  found: Identity,
  current: Awaited<ReturnType<typeof readCurrent>>,
  origin: Origin,
): Cause | undefined {
  // Also without an incarnation: a backup may be older than the first one.
  if (origin.isRestored) return 'restore';
  if (!current) return 'first_start';
  if (found.systemIdentifier !== current.system_identifier) return 'copy';
  if ((origin.place ?? null) !== current.place) return 'copy';
  return found.timeline === current.timeline ? undefined : 'promotion';
}

const readCurrent = (db: Queryable) =>
  findRow<{ number: number; system_identifier: string; timeline: number; place: string | null }>(db, {
    text: 'SELECT number, system_identifier, timeline, place FROM incarnations ORDER BY number DESC LIMIT 1',
  });

/**
 * Commits are lost from the end of the log only, so what was committed before the newest beat on record is here. An earlier
 * version wrote no beats, but a rate every minute.
 */
async function readCertainMoment(db: Queryable, now: Date): Promise<{ at: Date; synchronous: boolean }> {
  const newest = await findRow<{ at: Date; synchronous: boolean }>(db, {
    text: `SELECT at, synchronous FROM (
             (SELECT at, synchronous, 1 AS choice FROM process_beats ORDER BY at DESC LIMIT 1)
             UNION ALL
             (SELECT created_at, false, 2 FROM rates ORDER BY id DESC LIMIT 1)) AS moments
            WHERE at <= $1 ORDER BY choice LIMIT 1`,
    values: [now],
  });
  return newest ?? { at: now, synchronous: false };
}
