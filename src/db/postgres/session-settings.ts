import type pg from 'pg';

/** Limits that the server keeps, in milliseconds; 0 means none. */
export interface SessionTimeouts {
  statement_timeout: number;
  lock_timeout: number;
  idle_in_transaction_session_timeout: number;
}

/**
 * Set in every session, since the owner of a server, a database or a user may have changed the defaults. Functions that
 * lock a row and then decide need the new snapshot that each statement of READ COMMITTED takes; the driver reads dates in
 * ISO form only. Plans that suit tables of any size look dear to the planner: the server would compile them in each call.
 */
const needed = {
  default_transaction_isolation: 'read committed',
  DateStyle: 'ISO, MDY',
  TimeZone: 'UTC',
  jit: 'off',
};

/**
 * A connection can break without a packet: a cut cable, a firewall that forgets it, a machine that loses power. The server
 * then keeps its session, and the locks in it, for two hours by default. With these it asks after 5 s of silence and ends
 * the session after three more questions without an answer, 2 s apart; unsent answers end it after 10 s. Any role may set
 * them; on a unix socket they have no effect and are not needed.
 */
const keepAlives = {
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 10_000,
};

/**
 * The first statement of every session. In the start-up packet the settings would cost no statement, but PgBouncer
 * refuses that packet, or passes it on without them.
 */
export async function applySessionSettings(
  session: Pick<pg.ClientBase, 'query'>,
  timeouts: SessionTimeouts,
): Promise<void> {
  const settings = Object.entries({ ...needed, ...keepAlives, ...timeouts });
  await session.query({
    text: 'SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS s (name, value)',
    values: [settings.map(([name]) => name), settings.map(([, value]) => `${value}`)],
  });
}
