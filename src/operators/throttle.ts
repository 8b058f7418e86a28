import { createHmac } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { type Clock, instantOf } from '../base/clock.ts';
import { createRecent, type Recent } from '../base/recent.ts';
import { type Pool, type Queryable, transaction } from '../db/pool.ts';
import { deriveKey } from '../db/secret-key.ts';

const windowMs = 15 * 60_000;
/** So many may fail in that time; whoever has the next is not even heard. */
const most = { nameAndAddress: 5, address: 20, name: 50 };
type Limit = keyof typeof most;

/** Any number: those who try to sign in are counted one after the other. */
const countingLock = 718_000_013;

interface Attempt {
  nameHash: Buffer;
  address: string;
}

export function attemptOf(secretKey: string, name: string, address: string): Attempt {
  const nameHash = createHmac('sha256', deriveKey(secretKey, 'login names')).update(name).digest();
  return { nameHash, address: networkOf(address) };
}

/** Who has one address of IPv6 has a network of them. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const after = tail?.split(':').filter(Boolean) ?? [];
  const all =
    tail === undefined ? groups : [...groups, ...Array(8 - groups.length - after.length).fill('0'), ...after];
  return `${all
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

type Taken =
  /** It counts from now on; `filled` are the limits that it has used up. */
  { outcome: 'taken'; filled: Limit[] } | { outcome: 'throttled'; retryAfterSec: number };

interface Counted {
  count: number;
  oldest: Date | null;
}

/** What a process remembers between attempts, so that those who flood it cost payments no connection. */
interface Queue {
  /** Limits that were found full, by what they are about: until when nobody asks the database about them again. */
  full: Recent<{ foundAtMs: number; freeAtMs: number }>;
  waiting: number;
  last: Promise<unknown>;
}

const queues = new WeakMap<Pool, Queue>();
const mostRemembered = 1_000;
/** What was full may have been forgiven by another process meanwhile. */
const askAgainAfterMs = 1_000;
/** Whoever comes behind so many is told to come later. */
const mostWaiting = 100;

function queueOf(pool: Pool): Queue {
  const queue = queues.get(pool) ?? {
    full: createRecent(mostRemembered),
    waiting: 0,
    last: Promise.resolve(),
  };
  queues.set(pool, queue);
  return queue;
}

const subjectOf: Record<Limit, (attempt: Attempt) => string> = {
  nameAndAddress: ({ nameHash, address }) => `${nameHash.toString('hex')} ${address}`,
  address: ({ address }) => address,
  name: ({ nameHash }) => nameHash.toString('hex'),
};
const limits = Object.keys(most) as Limit[];

const throttled = (freeAtMs: number, nowMs: number): Taken => ({
  outcome: 'throttled',
  retryAfterSec: Math.max(1, Math.ceil((freeAtMs - nowMs) / 1000)),
});

/**
 * Counted before the password is looked at, so that many at once are no more than one after the other. Those of one
 * process stand in line for it without a connection: whoever pays needs those.
 */
export async function takeAttempt(pool: Pool, clock: Clock, attempt: Attempt): Promise<Taken> {
  const queue = queueOf(pool);
  const refused = refuseByMemory(queue, clock, attempt);
  if (refused) return refused;
  if (queue.waiting >= mostWaiting) return { outcome: 'throttled', retryAfterSec: 1 };
  queue.waiting += 1;
  const turn = queue.last.then(
    () => refuseByMemory(queue, clock, attempt) ?? countAttempt(pool, clock, attempt, queue),
  );
  queue.last = turn.catch(() => {});
  try {
    return await turn;
  } finally {
    queue.waiting -= 1;
  }
}

function refuseByMemory({ full }: Queue, clock: Clock, attempt: Attempt): Taken | undefined {
  const nowMs = clock.nowMs();
  const found = limits
    .map(limit => full.get(subjectOf[limit](attempt)))
    .filter(known => known && nowMs >= known.foundAtMs && nowMs < known.foundAtMs + askAgainAfterMs);
  return found.length > 0 ? throttled(Math.max(...found.map(known => known!.freeAtMs)), nowMs) : undefined;
}

function countAttempt(pool: Pool, clock: Clock, attempt: Attempt, queue: Queue): Promise<Taken> {
  const { nameHash, address } = attempt;
  return transaction(pool, async tx => {
    await tx.query({ text: `SELECT pg_advisory_xact_lock(${countingLock})` });
    const nowMs = clock.nowMs();
    const since = new Date(nowMs - windowMs);
    await tx.query({ text: 'DELETE FROM login_attempts WHERE at <= $1', values: [since] });
    const count = async (where: string, values: unknown[]) => {
      const { rows } = await tx.query<Counted>({
        text: `SELECT count(*)::int AS count, min(at) AS oldest FROM login_attempts WHERE ${where}`,
        values,
      });
      return rows[0]!;
    };
    const counted: Record<Limit, Counted> = {
      nameAndAddress: await count('name_hash = $1 AND address = $2', [nameHash, address]),
      address: await count('address = $1', [address]),
      name: await count('name_hash = $1', [nameHash]),
    };
    const full = limits.filter(limit => counted[limit].count >= most[limit]);
    if (full.length > 0) {
      const freeAtMs = Math.max(...full.map(limit => counted[limit].oldest!.getTime() + windowMs));
      for (const limit of full) queue.full.add(subjectOf[limit](attempt), { foundAtMs: nowMs, freeAtMs });
      return throttled(freeAtMs, nowMs);
    }
    await tx.query({
      text: 'INSERT INTO login_attempts (at, name_hash, address) VALUES ($1, $2, $3)',
      values: [instantOf(clock), nameHash, address],
    });
    return { outcome: 'taken', filled: limits.filter(limit => counted[limit].count + 1 === most[limit]) };
  });
}

/** Whoever has shown who they are starts anew from where they are. */
export async function forgiveAttempts(db: Queryable, { nameHash, address }: Attempt): Promise<void> {
  await db.query({
    text: 'DELETE FROM login_attempts WHERE name_hash = $1 AND address = $2',
    values: [nameHash, address],
  });
}
