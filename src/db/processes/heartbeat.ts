import type { Clock } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import * as postgres from '../postgres/index.ts';
import { watchCommits } from './commit-watch.ts';
import { type Beat, commitBeat, type ReportedKeys, removeBeat } from './process-beats.ts';

export type Heartbeat = Awaited<ReturnType<typeof startHeartbeat>>;

/** First half of the key of these advisory locks: "kope" in ASCII. */
export const heartbeatLockClass = 0x6b6f7065;
const beatIntervalMs = 1_000;
const maxMissedBeats = 3;

/**
 * When a connection breaks without a packet, its session and its lock can stay at the server for hours. Only this process
 * uses the number, so another session that holds it is an earlier one of this process.
 */
const endEarlierSession = `
  SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
   WHERE l.locktype = 'advisory' AND l.granted AND l.mode = 'ExclusiveLock' AND d.datname = current_database()
     AND l.classid = $1::int::oid AND l.objid = $2::int::oid AND l.objsubid = 2 AND l.pid <> pg_backend_pid()`;

const connectTimeoutMs = 15_000;

const deadline = (clock: Clock) =>
  new Promise<never>((_resolve, reject) => {
    const late = new OperatorError(
      'No dedicated connection to the database within 15 s: raise max_connections.',
    );
    clock.timer(connectTimeoutMs, () => reject(late));
  });

interface HeartbeatOptions {
  /** What each statement answers shows the database's clock. */
  measure?: postgres.Measure;
  /** The beats report its keys, and it follows the key in use. */
  keyring?: ReportedKeys;
  /** The key in use is not in the keyring. */
  onUnknownKey?(): void;
  /** After each beat that was committed. */
  onBeat?(): void;
  /** Each second in which the database does not answer or does not commit. */
  onSilence?(reason: string): void;
}

const silence = 'the database does not answer';

/**
 * The heartbeat of this process: a number under an advisory lock, held while it is connected. Leases name the number of
 * their holder, so the leases of a dead process can be taken over at once (fail-over).
 *
 * Takes a number and locks it in a session of its own. The server releases the lock when the session ends, after kill -9
 * at once: no timeout has to pass before another process takes over. Each second it commits there, and measures the clock.
 */
export async function startHeartbeat(
  { pool, clock }: { pool: postgres.Pool; clock: Clock },
  { measure = send => send(), keyring, onUnknownKey, onBeat, onSilence }: HeartbeatOptions = {},
) {
  const instance = await postgres.readValue<number>(pool, {
    text: "SELECT nextval('instances')::int AS instance",
  });
  // Counted in beats and not in time: after a pause of this process itself, the time would prove nothing.
  let missedBeats = 0;
  const onAnswer = () => {
    missedBeats = 0;
  };
  /** False while the database does not answer: another statement would only wait as well. */
  const isDatabaseAnswering = () => missedBeats <= maxMissedBeats;
  const commits = watchCommits(isDatabaseAnswering);
  const connected = Promise.withResolvers<void>();
  const session = postgres.openDedicatedConnection({ pool, clock }, 'heartbeat', async client => {
    await client.query(endEarlierSession, [heartbeatLockClass, instance]);
    await client.query('SELECT pg_advisory_lock($1, $2)', [heartbeatLockClass, instance]);
    onAnswer();
    connected.resolve();
  });
  await Promise.race([connected.promise, deadline(clock)]).catch(async error => {
    await session.close();
    throw error;
  });

  const read = (db: postgres.Queryable) => measure(() => postgres.readClock(db)).then(onAnswer);

  async function commit(client: postgres.Queryable): Promise<void> {
    const { active } = await measure(() => postgres.readRow<Beat>(client, commitBeat(instance, keyring)));
    // A rotation waits until all processes have the key, but does not see one that the database was cut off from.
    if (keyring && !keyring.follow(active)) onUnknownKey?.();
  }

  async function beat(client: postgres.Queryable): Promise<void> {
    await commits.commit(() => commit(client));
    onAnswer();
    onBeat?.();
  }

  let beating: Promise<void> | undefined;
  let isReading = false;
  let isClosed = false;
  function nextBeat(): void {
    if (isClosed) return;
    missedBeats += 1;
    commits.nextBeat();
    if (!isDatabaseAnswering()) onSilence?.(silence);
    else if (commits.whyNone()) onSilence?.(commits.whyNone()!);
    const client = session.client();
    if (client && !beating) {
      beating = beat(client)
        .catch(session.reconnect)
        .finally(() => {
          beating = undefined;
        });
      // While a commit hangs, the session is busy with it: whether reads work is asked on the pool.
    } else if (commits.whyNone() && !isReading) {
      isReading = true;
      read(pool)
        .catch(() => {})
        .finally(() => {
          isReading = false;
        });
    }
  }
  // After answers that have already arrived: a process that was stopped must not take them for missing.
  function beatAgain(): void {
    cancelBeat = clock.timer(beatIntervalMs, beatAgain);
    setImmediate(nextBeat);
  }
  let cancelBeat = clock.timer(beatIntervalMs, beatAgain);

  return {
    instance,
    /** Which of these processes have ended. */
    findDead: async (instances: number[]) => {
      if (instances.length === 0) return [];
      const dead = await postgres.readRows<{ instance: number }>(pool, {
        name: 'find dead instances',
        text: 'SELECT instance FROM unnest($2::int[]) AS i (instance) WHERE pg_try_advisory_xact_lock_shared($1, instance)',
        values: [heartbeatLockClass, instances],
      });
      return dead.map(row => row.instance);
    },
    isDatabaseAnswering,
    canCommit: commits.canCommit,
    whyNone: commits.whyNone,
    close: async () => {
      isClosed = true;
      cancelBeat();
      // A beat under way would bring the row back.
      if (!commits.whyNone()) await beating;
      const client = session.client();
      if (client && !commits.whyNone()) await removeBeat(client, instance).catch(() => {});
      await session.close();
    },
  };
}
