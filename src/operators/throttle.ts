import { createHmac } from 'node:crypto';
import { type BoundedCache, createBoundedCache } from '../base/bounded-cache.ts';
import { type Clock, instantOf } from '../base/clock.ts';
import { type Pool, type Queryable, readRow, transaction } from '../db/postgres/index.ts';
import type { Keyring } from '../db/secrets/index.ts';
import { findKnownDevice, isKnownNetwork, networkOf } from './known-clients.ts';

const windowMs = 15 * 60_000;
/** Failed sign-ins within the window, after which the next attempt is refused without checking the password. */
const maxFailures = { nameAndAddress: 5, address: 20, name: 50, device: 10 };
type Limit = keyof typeof maxFailures;

/**
 * The limits that count for an attempt. Attackers can use up the limit of a name from anywhere, so it does not count for
 * clients that have signed in before.
 */
const limitsOf = {
  device: ['device'],
  knownAddress: ['nameAndAddress', 'address'],
  unknown: ['nameAndAddress', 'address', 'name'],
} as const satisfies Record<string, Limit[]>;

/** Key of the advisory lock under which attempts are counted one after the other; an arbitrary number. */
const countingLock = 718_000_013;

interface Attempt {
  nameHash: Buffer;
  address: string;
  /** Names the device, if the operator has signed in from it before. */
  deviceHash: string | undefined;
  limits: readonly Limit[];
}

/** Names are stored hashed: a name that was typed may be a password in the wrong field. */
export async function createAttempt(
  deps: { pool: Pool; clock: Clock; keyring: Keyring },
  name: string,
  client: { address: string; deviceToken?: string | undefined },
): Promise<Attempt> {
  const nameHash = createHmac('sha256', deps.keyring.active().derive('login names')).update(name).digest();
  const address = networkOf(client.address);
  const deviceHash = await findKnownDevice(deps, name, client.deviceToken);
  if (deviceHash) return { nameHash, address, deviceHash, limits: limitsOf.device };
  const isKnown = await isKnownNetwork(deps.pool, deps.clock, address);
  return { nameHash, address, deviceHash, limits: isKnown ? limitsOf.knownAddress : limitsOf.unknown };
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

/** Known clients queue apart: a flood of attempts from elsewhere does not delay them. */
const queues = { known: new WeakMap<Pool, AttemptQueue>(), unknown: new WeakMap<Pool, AttemptQueue>() };
const maxCachedLimits = 1_000;
/** Short, because another process may have cleared the attempts meanwhile. */
const cacheMs = 1_000;
const maxWaiting = 100;

function queueOf(pool: Pool, { limits }: Attempt): AttemptQueue {
  const ofClients = limits === limitsOf.unknown ? queues.unknown : queues.known;
  const queue = ofClients.get(pool) ?? {
    full: createBoundedCache(maxCachedLimits),
    waiting: 0,
    last: Promise.resolve(),
  };
  ofClients.set(pool, queue);
  return queue;
}

const subjectOf: Record<Limit, (attempt: Attempt) => string> = {
  nameAndAddress: ({ nameHash, address }) => `${nameHash.toString('hex')} ${address}`,
  address: ({ address }) => address,
  name: ({ nameHash }) => nameHash.toString('hex'),
  device: ({ deviceHash }) => `device ${deviceHash}`,
};

const secondsUntil = (freeAtMs: number, nowMs: number) => Math.max(1, Math.ceil((freeAtMs - nowMs) / 1000));

const throttled = (freeAtMs: number, nowMs: number): ThrottleResult => ({
  outcome: 'throttled',
  retryAfterSec: secondsUntil(freeAtMs, nowMs),
});

/**
 * Counts an attempt before its password is checked, so that parallel attempts get no more tries than sequential ones.
 * Attempts of one process queue here without a database connection, since payments need those.
 */
export async function throttleAttempt(pool: Pool, clock: Clock, attempt: Attempt): Promise<ThrottleResult> {
  const queue = queueOf(pool, attempt);
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

function throttleFromCache({ full }: AttemptQueue, clock: Clock, attempt: Attempt) {
  const nowMs = clock.nowMs();
  const found = attempt.limits
    .map(limit => freeAtFromCache(full, subjectOf[limit](attempt), nowMs))
    .filter(freeAtMs => freeAtMs !== undefined);
  return found.length > 0 ? throttled(Math.max(...found), nowMs) : undefined;
}

function freeAtFromCache(full: AttemptQueue['full'], subject: string, nowMs: number): number | undefined {
  const cached = full.get(subject);
  const isFresh = cached && nowMs >= cached.foundAtMs && nowMs < cached.foundAtMs + cacheMs;
  return isFresh ? cached.freeAtMs : undefined;
}

/**
 * For how long the address has used up its limit, as far as this process knows without the database. It counts for every
 * attempt from there except those of known devices.
 */
export function addressFullForSec({ pool, clock }: { pool: Pool; clock: Clock }, address: string) {
  const nowMs = clock.nowMs();
  const found = Object.values(queues)
    .map(ofClients => ofClients.get(pool))
    .map(queue => queue && freeAtFromCache(queue.full, networkOf(address), nowMs))
    .filter(freeAtMs => freeAtMs !== undefined);
  return found.length > 0 ? secondsUntil(Math.max(...found), nowMs) : undefined;
}

const countAttempt = (
  pool: Pool,
  clock: Clock,
  attempt: Attempt,
  queue: AttemptQueue,
): Promise<ThrottleResult> =>
  transaction(pool, async tx => {
    await tx.query({ text: `SELECT pg_advisory_xact_lock(${countingLock})` });
    const nowMs = clock.nowMs();
    await tx.query({
      text: 'DELETE FROM login_attempts WHERE at <= $1',
      values: [new Date(nowMs - windowMs)],
    });
    const counted = await readCounts(tx, attempt);
    const full = counted.filter(({ limit, count }) => count >= maxFailures[limit]);
    if (full.length > 0) {
      const freeAtMs = Math.max(...full.map(({ oldest }) => oldest!.getTime() + windowMs));
      for (const { limit } of full) queue.full.set(subjectOf[limit](attempt), { foundAtMs: nowMs, freeAtMs });
      return throttled(freeAtMs, nowMs);
    }
    await tx.query({
      text: 'INSERT INTO login_attempts (at, name_hash, address, device_hash) VALUES ($1, $2, $3, $4)',
      values: [instantOf(clock), attempt.nameHash, attempt.address, attempt.deviceHash ?? null],
    });
    const filled = counted.filter(({ limit, count }) => count + 1 === maxFailures[limit]);
    return { outcome: 'counted', filled: filled.map(({ limit }) => limit) };
  });

/** Attempts of known devices count only for the device. */
const countedBy: Record<Limit, (attempt: Attempt) => { where: string; values: unknown[] }> = {
  nameAndAddress: ({ nameHash, address }) => ({
    where: 'name_hash = $1 AND address = $2 AND device_hash IS NULL',
    values: [nameHash, address],
  }),
  address: ({ address }) => ({ where: 'address = $1 AND device_hash IS NULL', values: [address] }),
  name: ({ nameHash }) => ({ where: 'name_hash = $1 AND device_hash IS NULL', values: [nameHash] }),
  device: ({ deviceHash }) => ({ where: 'device_hash = $1', values: [deviceHash] }),
};

async function readCounts(tx: Queryable, attempt: Attempt) {
  const counts = [];
  for (const limit of attempt.limits) {
    const { where, values } = countedBy[limit](attempt);
    const text = `SELECT count(*)::int AS count, min(at) AS oldest FROM login_attempts WHERE ${where}`;
    counts.push({ limit, ...(await readRow<{ count: number; oldest: Date | null }>(tx, { text, values })) });
  }
  return counts;
}

/** After a successful sign-in the failures of this name from this address, and of this device, no longer count. */
export const clearAttempts = (db: Queryable, { nameHash, address, deviceHash }: Attempt) =>
  db.query({
    text: 'DELETE FROM login_attempts WHERE (name_hash = $1 AND address = $2) OR device_hash = $3',
    values: [nameHash, address, deviceHash ?? null],
  });
