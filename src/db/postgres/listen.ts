import type pg from 'pg';
import type { Clock } from '../../base/clock.ts';
import { type DedicatedConnection, openDedicatedConnection, ping } from './dedicated-connection.ts';
import type { Pool } from './pool.ts';

interface Subscription {
  channel: string;
  onMessage(): void;
  /** The session on which the server knows of it. */
  session?: pg.Client;
}

interface SharedConnection extends DedicatedConnection {
  subscriptions: Set<Subscription>;
}

interface ListenDeps {
  pool: Pool;
  clock: Clock;
}

const pingIntervalMs = 2_000;
const pingTimeoutMs = 4_000;

/** The listeners of a process share a session. */
const connections = new WeakMap<Pool, SharedConnection>();

/** Calls `onMessage` for every NOTIFY on the channel, and whenever one may have been missed. */
export function listen(deps: ListenDeps, channel: string, onMessage: () => void) {
  const { pool } = deps;
  const connection = connections.get(pool) ?? connect(deps);
  const subscription: Subscription = { channel, onMessage };
  connection.subscriptions.add(subscription);
  const session = connection.client();
  if (session) void subscribe(session, subscription).catch(connection.reconnect);
  return {
    /** False while messages could be missed: callers must not rely on what they cached. */
    isListening: () => {
      const current = connection.client();
      return current !== undefined && current === subscription.session;
    },
    close: async () => {
      connection.subscriptions.delete(subscription);
      if (connection.subscriptions.size > 0) return;
      if (connections.get(pool) === connection) connections.delete(pool);
      await connection.close();
    },
  };
}

async function subscribe(session: pg.Client, subscription: Subscription): Promise<void> {
  await session.query(`LISTEN ${subscription.channel}`);
  subscription.session = session;
  subscription.onMessage();
}

function connect({ pool, clock }: ListenDeps): SharedConnection {
  const subscriptions = new Set<Subscription>();
  const subscribeAll = async (session: pg.Client) => {
    for (const subscription of subscriptions)
      if (subscription.session !== session) await subscribe(session, subscription);
  };
  const { client, reconnect, close } = openDedicatedConnection({ pool, clock }, 'listener', async session => {
    session.on('notification', ({ channel }) => {
      for (const subscription of subscriptions)
        if (subscription.channel === channel) subscription.onMessage();
    });
    await subscribeAll(session);
  });
  // A listener only waits, so without pings it would not notice a connection that broke without a packet.
  let isAsking = false;
  let cancelPing = clock.timer(pingIntervalMs, pingAgain);
  function pingAgain(): void {
    cancelPing = clock.timer(pingIntervalMs, pingAgain);
    void askOnce();
  }
  async function askOnce(): Promise<void> {
    const session = client();
    if (!session || isAsking) return;
    isAsking = true;
    await ping(session, pingTimeoutMs)
      // One may have come while the session was set up.
      .then(() => subscribeAll(session))
      .catch(() => client() === session && reconnect());
    isAsking = false;
  }
  const connection: SharedConnection = {
    subscriptions,
    client,
    reconnect,
    close: () => {
      cancelPing();
      return close();
    },
  };
  connections.set(pool, connection);
  return connection;
}
