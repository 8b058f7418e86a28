import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { type Queryable, readRows } from '../db/postgres/index.ts';

export type Mode = 'live' | 'test';

/** One partner's money in one mode: the key of a row of `accounts`. */
export interface AccountKey {
  partnerId: Id<'prt'>;
  mode: Mode;
}
/** A settle or a release, which moves the whole hold. */
export interface HoldEnd extends AccountKey {
  paymentId: Id<'pay'>;
}
export interface Hold extends HoldEnd {
  microUsdt: bigint;
}
export interface Credit extends AccountKey {
  reference: string;
  microUsdt: bigint;
}

export type Posting =
  | ({ operation: 'hold' } & Hold)
  | ({ operation: 'settle' | 'release' } & HoldEnd)
  | ({ operation: 'credit' | 'grant' } & Credit);

/** The verdict on one posting, and the available balance after it. */
export interface PostingResult {
  verdict: 'done' | 'already_done' | 'ended' | 'insufficient' | 'conflict' | 'not_held' | 'no_account';
  balance: bigint;
}

/**
 * Moves money for many items in one statement, and so in one transaction, through the SQL function `ledger_post`. Each
 * item is idempotent: after any failure it is safe to post again.
 */
export const post = (db: Queryable, clock: Clock, postings: Posting[]) =>
  readRows<PostingResult>(db, {
    name: 'ledger_post',
    text: 'SELECT verdict, balance FROM ledger_post($1, $2, $3, $4, $5, $6, $7) ORDER BY item',
    values: [
      postings.map(posting => uuidFromId(posting.partnerId)),
      postings.map(posting => posting.mode),
      postings.map(posting => posting.operation),
      postings.map(posting => ('paymentId' in posting ? uuidFromId(posting.paymentId) : null)),
      postings.map(posting => ('reference' in posting ? posting.reference : null)),
      postings.map(posting => ('microUsdt' in posting ? posting.microUsdt : null)),
      instantOf(clock),
    ],
  });
