import { type Clock, systemClock } from '../../src/base/clock.ts';
import { type Id, newId } from '../../src/base/ids.ts';
import { createBatcher } from '../../src/db/batching/batch.ts';
import { isItemError } from '../../src/db/postgres/database-errors.ts';
import { type Queryable, retryOnDeadlock } from '../../src/db/postgres/pool.ts';
import { type Hold, type HoldEnd, type Posting, type PostingResult, post } from '../../src/ledger/post.ts';

/**
 * The postings of a payment by themselves, for tests and benches of the ledger. The service posts them through
 * `payments_open` and `payments_finish`, which call the same SQL function.
 */

/** The live hold of a new payment. */
export const newHold = (partnerId: Id<'prt'>, microUsdt: bigint) =>
  ({ partnerId, mode: 'live', paymentId: newId('pay', systemClock), microUsdt }) as const;

/** Reserves money for payments: available → held. There is no expiry: only settle or release ends a hold. */
export const hold = (db: Queryable, clock: Clock, items: Hold[]) =>
  post(
    db,
    clock,
    items.map(item => ({ operation: 'hold', ...item })),
  );

const end = (operation: 'settle' | 'release') => (db: Queryable, clock: Clock, items: HoldEnd[]) =>
  post(
    db,
    clock,
    items.map(({ partnerId, mode, paymentId }) => ({ operation, partnerId, mode, paymentId })),
  );

/** The payments went through: held → settled, for good. */
export const settle = end('settle');

/** The payments did not go through: held → available. */
export const release = end('release');

/** For many callers: postings that arrive together share one statement and one commit. */
export const batchedPost = (db: Queryable, clock: Clock) =>
  createBatcher<Posting, PostingResult>({
    run: postings => retryOnDeadlock(() => post(db, clock, postings)),
    isItemError,
    maxBatch: 256,
    maxWaiting: 10_000,
  });
