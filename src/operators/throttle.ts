import { createHmac } from 'node:crypto';
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type BoundedCache, createBoundedCache } from '../base/bounded-cache.ts';
import { type Clock, instantOf } from '../base/clock.ts';
import { type Pool, type Queryable, transaction } from '../db/pool.ts';
import { deriveKey } from '../db/secret-key.ts';

const windowMs = 15 * 60_000;
/** Failed sign-ins within the window, after which the next attempt is refused without checking the password. */
const maxFailures = { nameAndAddress: 5, address: 20, name: 50 };
type Limit = keyof typeof maxFailures;
const limits = Object.keys(maxFailures) as Limit[];

/** Key of the advisory lock under which attempts are counted one after the other; an arbitrary number. */
const countingLock = 718_000_013;

interface Attempt {
  nameHash: Buffer;
  address: string;
}

/** Names are stored hashed: a name that was typed may be a password in the wrong field. */
export function createAttempt(secretKey: string, name: string, address: string): Attempt {
  const nameHash = createHmac('sha256', deriveKey(secretKey, 'login names')).update(name).digest();
  return { nameHash, address: networkOf(address) };
}

/** IPv6 is counted by /64 network: a client with one IPv6 address usually has the whole network. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return address;
  const prefix = parsed.parts.slice(0, 4).map(part => part.toString(16));
  return `${prefix.join(':')}::/64`;
}

type ThrottleResult =
  /** The attempt counts from now on; `filled` are the limits that it has used up. */
  { outcome: 'counted'; filled: Limit[] } | { outcome: 'throttled'; retryAfterSec: number };

/** Per process, so that a flood of attempts takes no database connections away from payments. */
interface AttemptQueue {
  /** Full limits by their subject; until `foundAtMs + cacheMs` they are answered without the database. */
  full: BoundedCache<{ foundAtMs: number; freeAtMs: number }>;
  waiting: number;
  last: Promise<unknown>;
}

const queues = new WeakMap<Pool, AttemptQueue>();
const maxCachedLimits = 1_000;
/** Short, because another process may have cleared the attempts meanwhile. */
const cacheMs = 1_000;
const maxWaiting = 100;

function queueOf(pool: Pool): AttemptQueue {
  const queue = queues.get(pool) ?? {
    full: createBoundedCache(maxCachedLimits),
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

const throttled = (freeAtMs: number, nowMs: number): ThrottleResult => ({
  outcome: 'throttled',
  retryAfterSec: Math.max(1, Math.ceil((freeAtMs - nowMs) / 1000)),
});

/**
 * Counts an attempt before its password is checked, so that parallel attempts get no more tries than sequential ones.
 * Attempts of one process queue here without a database connection, since payments need those.
 */
export async function throttleAttempt(pool: Pool, clock: Clock, attempt: Attempt): Promise<ThrottleResult> {
  const queue = queueOf(pool);
  const refused = throttleFromCache(queue, clock, attempt);
  if (refused) return refused;
  if (queue.waiting >= maxWaiting) return { outcome: 'throttled', retryAfterSec: 1 };
  queue.waiting += 1;
  const result = queue.last.then(
    () => throttleFromCache(queue, clock, attempt) ?? countAttempt(pool, clock, attempt, queue),
  );
  queue.last = result.catch(() => {});
  try {
    return await result;
  } finally {
    queue.waiting -= 1;
  }
}

function throttleFromCache(
  { full }: AttemptQueue,
  clock: Clock,
  attempt: Attempt,
): ThrottleResult | undefined {
  const nowMs = clock.nowMs();
  const found = limits
    .map(limit => full.get(subjectOf[limit](attempt)))
    .filter(cached => cached && nowMs >= cached.foundAtMs && nowMs < cached.foundAtMs + cacheMs);
  return found.length > 0 ? throttled(Math.max(...found.map(cached => cached!.freeAtMs)), nowMs) : undefined;
}

function countAttempt(
  pool: Pool,
  clock: Clock,
  attempt: Attempt,
  queue: AttemptQueue,
): Promise<ThrottleResult> {
  return transaction(pool, async tx => {
    await tx.query({ text: `SELECT pg_advisory_xact_lock(${countingLock})` });
    const nowMs = clock.nowMs();
    await tx.query({
      text: 'DELETE FROM login_attempts WHERE at <= $1',
      values: [new Date(nowMs - windowMs)],
    });
    const counted = await readCounts(tx, attempt);
    const full = limits.filter(limit => counted[limit].count >= maxFailures[limit]);
    if (full.length > 0) {
      const freeAtMs = Math.max(...full.map(limit => counted[limit].oldest!.getTime() + windowMs));
      for (const limit of full) queue.full.set(subjectOf[limit](attempt), { foundAtMs: nowMs, freeAtMs });
      return throttled(freeAtMs, nowMs);
    }
    await tx.query({
      text: 'INSERT INTO login_attempts (at, name_hash, address) VALUES ($1, $2, $3)',
      values: [instantOf(clock), attempt.nameHash, attempt.address],
    });
    const filled = limits.filter(limit => counted[limit].count + 1 === maxFailures[limit]);
    return { outcome: 'counted', filled };
  });
}

interface Count {
  count: number;
  oldest: Date | null;
}

async function readCounts(tx: Queryable, { nameHash, address }: Attempt): Promise<Record<Limit, Count>> {
  const count = async (where: string, values: unknown[]) => {
    const { rows } = await tx.query<Count>({
      text: `SELECT count(*)::int AS count, min(at) AS oldest FROM login_attempts WHERE ${where}`,
      values,
    });
    return rows[0]!;
  };
  return {
    nameAndAddress: await count('name_hash = $1 AND address = $2', [nameHash, address]),
    address: await count('address = $1', [address]),
    name: await count('name_hash = $1', [nameHash]),
  };
}

/** After a successful sign-in the failures of this name from this address no longer count. */
export async function clearAttempts(db: Queryable, { nameHash, address }: Attempt): Promise<void> {
  await db.query({
    text: 'DELETE FROM login_attempts WHERE name_hash = $1 AND address = $2',
    values: [nameHash, address],
  });
}
