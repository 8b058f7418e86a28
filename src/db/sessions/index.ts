/**
 * Sessions of people: opening, finding, keeping alive and listing them, for the operators of the console and for the people of
 * partners in the portal. Who may sign in, and what ends a session early, is said where they are (`src/operators/`,
 * `src/partners/portal/`).
 */

import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, idFromUuid, newId, uuidFromId } from '../../base/ids.ts';
import { hashOfToken, isToken, newToken } from '../../base/token.ts';
import { commitsWithoutWaiting, type Queryable } from '../postgres/index.ts';

/** Ended sessions stay for investigations: who was signed in, and from where. */
export const keptDays = 90;
/** Activity is written at most this often, because a page sends requests every few seconds. */
const lastSeenPrecisionMs = 60_000;
const maxUserAgentLength = 200;

/** Where somebody signs in. */
export interface SessionClient {
  address: string;
  userAgent: string;
}

export interface StoredSession extends SessionClient {
  sessionId: Id<'ses'>;
  createdAt: Date;
  lastSeenAt: Date;
  endsAt: Date;
}

interface Kind {
  table: string;
  /** What is read besides the columns that every session (`s`) has, and from where. */
  own: string;
  join?: string;
  /** Besides the end of the session itself. */
  isUsable?: string;
  /** After so long without activity a session ends before its end. */
  idleMs?: number;
}

/** The sessions of one kind of people, which are in a table of their own. */
export function sessionsOf<Own extends object>({
  table,
  own,
  join = '',
  isUsable = 'true',
  idleMs = Number.POSITIVE_INFINITY,
}: Kind) {
  const isOpen = `s.ended_at IS NULL AND s.ends_at > $1 AND s.last_seen_at > $2 AND ${isUsable}`;
  type Row = Omit<StoredSession, 'sessionId'> & Own & { id: string; isOpen: boolean };

  /** `$3` of the condition is the value. */
  async function read(db: Queryable, clock: Clock, condition: string, value: unknown, name?: string) {
    const { rows } = await db.query<Row>({
      ...(name === undefined ? {} : { name }),
      text: `SELECT s.id, s.address, s.user_agent AS "userAgent", s.created_at AS "createdAt",
                    s.last_seen_at AS "lastSeenAt", s.ends_at AS "endsAt", ${isOpen} AS "isOpen", ${own}
               FROM ${table} s ${join} WHERE ${condition}`,
      values: [instantOf(clock), new Date(Math.max(0, clock.nowMs() - idleMs)), value],
    });
    return rows.map(({ id, isOpen: open, ...row }) => {
      const session = {
        sessionId: idFromUuid('ses', id),
        ...(row as Omit<StoredSession, 'sessionId'> & Own),
      };
      return { session, isOpen: open };
    });
  }

  return {
    /** Only the token's hash is stored; the token itself is returned once. */
    async open(tx: Queryable, clock: Clock, owner: object, client: SessionClient, maxAgeMs: number) {
      const { address, userAgent } = client;
      const token = newToken();
      const sessionId = newId('ses', clock);
      const columns = Object.keys(owner);
      await tx.query({
        text: `INSERT INTO ${table} (id, token_hash, address, user_agent, created_at, last_seen_at, ends_at, ${columns})
               VALUES ($1, $2, $3, $4, $5, $5, $6, ${columns.map((_, nth) => `$${7 + nth}`)})`,
        values: [
          uuidFromId(sessionId),
          hashOfToken(token),
          address,
          userAgent.slice(0, maxUserAgentLength),
          instantOf(clock),
          new Date(clock.nowMs() + maxAgeMs),
          ...Object.values(owner),
        ],
      });
      return { sessionId, token };
    },

    /**
     * Reads the database for every request, so that a changed role or an ended session takes effect at once in every process.
     * Requests that a page sends by itself are not user activity and do not keep the session alive.
     */
    async find(db: Queryable, clock: Clock, token: string, { isUserActivity }: { isUserActivity: boolean }) {
      if (!isToken(token)) return undefined;
      const condition = `s.token_hash = $3 AND ${isOpen}`;
      const [found] = await read(db, clock, condition, hashOfToken(token), `find in ${table}`);
      if (!found) return undefined;
      const { session } = found;
      if (isUserActivity && clock.nowMs() - session.lastSeenAt.getTime() >= lastSeenPrecisionMs) {
        session.lastSeenAt = instantOf(clock);
        await db.query({
          text: `UPDATE ${table} SET last_seen_at = greatest(last_seen_at, $2) FROM ${commitsWithoutWaiting} WHERE id = $1`,
          values: [uuidFromId(session.sessionId), session.lastSeenAt],
        });
      }
      return session;
    },

    /** The session of a token, which nobody else changes until the end of the transaction; also if it has ended. */
    async lock(tx: Queryable, clock: Clock, token: string) {
      if (!isToken(token)) return undefined;
      const [found] = await read(tx, clock, 's.token_hash = $3 FOR UPDATE', hashOfToken(token));
      return found;
    },

    /** Open ones, newest first. */
    async list(db: Queryable, clock: Clock, condition: string, value: unknown, limit: number) {
      const found = await read(
        db,
        clock,
        `${isOpen} AND ${condition} ORDER BY s.id DESC LIMIT ${limit}`,
        value,
      );
      return found.map(({ session }) => session);
    },
  };
}
