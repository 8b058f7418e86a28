import { startBackgroundLoop } from '../../base/background-loop.ts';
import { type Clock, hourMs, instantOf } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { hasRow, type Queryable, readRow } from '../../db/postgres/index.ts';
import type { Gateway, ListedRefund } from '../../gateway/index.ts';
import { findRecovering } from '../lost-history/incarnations.ts';
import { type BookDeps, type Booking, bookRefunds, type RefundVerdict, reportMissing } from './book.ts';
import { readRefundList, refundListIsGone } from './refunded.ts';

export interface RefundDeps extends BookDeps {
  gateway: Pick<Gateway, 'listRefunds'>;
  log: Record<'info' | 'error', (details: object, message: string) => void>;
}

const askEveryMs = 30_000;
const sweepEveryMs = hourMs;
const sweptMs = 31 * 24 * hourMs;
/** Each list begins this long before the newest refund of the last one: a refund may be listed late. */
const overlapMs = hourMs;
/** A refund as young as this may be missing from a list that began before it. */
const youngMs = 600_000;

/** What was listed, with the verdicts. */
export interface ReadRefunds extends Booking {
  refunds: ListedRefund[];
}

/**
 * Reads the list from that time on and books what is new. What cannot be booked now holds up nothing else. Undefined: the gateway
 * has no such list.
 */
export async function readRefunds(
  deps: RefundDeps,
  since: Date,
  signal?: AbortSignal,
): Promise<ReadRefunds | undefined> {
  const [refunds, verdicts]: [ListedRefund[], RefundVerdict[]] = [[], []];
  let failure: Error | undefined;
  for await (const fresh of readRefundList(deps.gateway, since, signal)) {
    if (!fresh) return undefined;
    const own = fresh.filter(({ createdAt }) => createdAt >= since);
    const booking = await bookRefunds(deps, own);
    refunds.push(...own);
    verdicts.push(...booking.verdicts);
    failure ??= booking.failure;
  }
  return { refunds, verdicts, failure };
}

/** Those that the answer about one order has: for an operator, and for a gateway without the list. */
export async function readRefundsOf(
  deps: BookDeps & { gateway: Pick<Gateway, 'poll'> },
  order: Parameters<Gateway['poll']>[0],
): Promise<ReadRefunds> {
  const answer = await deps.gateway.poll(order);
  if (answer.outcome === 'unknown')
    throw new OperatorError(`The payment gateway gave no answer about the order (${answer.why}).`);
  // An id of another payment would be a contradiction of the gateway, and must not be booked here.
  const own = answer.outcome === 'succeeded' ? (answer.refunds ?? []) : [];
  const refunds = own.filter(({ paymentId }) => paymentId === order.paymentId);
  return { refunds, ...(await bookRefunds(deps, refunds)) };
}

/** One round: what is new since the last one, and once an hour all of the last weeks. */
export async function refundRound(
  deps: RefundDeps,
  signal?: AbortSignal,
): Promise<'read' | 'no_list' | 'waits'> {
  const { db, clock } = deps;
  // Payments that were lost are not here yet.
  if (await findRecovering(db)) return 'waits';
  const { from, readTo, sweptAt } = await readPosition(db);
  const startedMs = clock.nowMs();
  const isSweep = sweptAt === null || Math.abs(startedMs - sweptAt.getTime()) >= sweepEveryMs;
  // A refund that waits for its payment may be older than the last weeks.
  const fromMs = Math.min((readTo ?? from).getTime() - overlapMs, isSweep ? startedMs - sweptMs : startedMs);
  const since = new Date(Math.max(from.getTime(), fromMs));
  const read = await readRefunds(deps, since, signal);
  if (!read && readTo !== null) throw refundListIsGone();
  if (!read) return 'no_list';
  if (isSweep)
    await reportMissing(deps, {
      since,
      until: new Date(startedMs - youngMs),
      startedAt: new Date(startedMs),
      seen: new Set(read.refunds.map(({ refundId }) => refundId)),
    });
  await storePosition(db, nextPosition(read, startedMs), isSweep ? new Date(startedMs) : null);
  if (read.failure) throw read.failure;
  return 'read';
}

/** The oldest refund that has to be read again, or the newest of all; null if the list is empty. */
function nextPosition({ refunds, verdicts }: ReadRefunds, nowMs: number): Date | null {
  const waiting = refunds.filter((_, index) => ['not_paid_yet', 'failed'].includes(verdicts[index]!));
  const times = (waiting.length > 0 ? waiting : refunds).map(({ createdAt }) => createdAt.getTime());
  if (times.length === 0) return null;
  const pick = (one: number, other: number) =>
    waiting.length > 0 ? Math.min(one, other) : Math.max(one, other);
  // If the clock of the gateway is ahead, our own time counts.
  return new Date(Math.min(times.reduce(pick), nowMs));
}

const readPosition = (db: Queryable) =>
  readRow<{ from: Date; readTo: Date | null; sweptAt: Date | null }>(db, {
    text: `SELECT refunds_from AS "from", refunds_read_to AS "readTo", refunds_swept_at AS "sweptAt" FROM service`,
  });

const storePosition = (db: Queryable, readTo: Date | null, sweptAt: Date | null) =>
  db.query({
    text: `UPDATE service SET refunds_read_to = coalesce($1, refunds_read_to), refunds_swept_at = coalesce($2, refunds_swept_at)`,
    values: [readTo, sweptAt],
  });

/** True for one caller per interval over all processes. A claim from the future comes from a wrong clock and does not count. */
export const claimRound = (
  db: Queryable,
  clock: Clock,
  claimedAt: 'reconciled_at' | 'refunds_asked_at',
  { everyMs, skewMs }: { everyMs: number; skewMs: number },
) =>
  hasRow(db, {
    text: `UPDATE service SET ${claimedAt} = $1
            WHERE ${claimedAt} IS NULL OR ${claimedAt} <= $2 OR ${claimedAt} > $3 RETURNING true`,
    values: [instantOf(clock), new Date(clock.nowMs() - everyMs), new Date(clock.nowMs() + skewMs)],
  });

const rounds = { everyMs: askEveryMs, skewMs: askEveryMs };

/** Reads refunds every half minute, in one of the processes that run this. */
export function startRefundReader(deps: RefundDeps): () => Promise<void> {
  const { db, clock, alarms, log } = deps;
  let isListMissing = false;
  /** Null: the last round of this process went well; undefined: there was none. */
  let failingSinceMs: number | null | undefined;

  async function round(signal: AbortSignal): Promise<number | undefined> {
    if (!(await claimRound(db, clock, 'refunds_asked_at', rounds))) return undefined;
    const outcome = await refundRound(deps, signal);
    if (failingSinceMs !== null) await alarms.clear(notRead, 'refunds');
    failingSinceMs = null;
    if (outcome === 'no_list' && !isListMissing)
      log.info({}, 'the payment gateway has no list of refunds: refunds are not booked until it has one');
    isListMissing = outcome === 'no_list';
    return isListMissing ? hourMs : undefined;
  }

  /** Logged once, when it begins: rounds follow one another quickly, and an outage has its own alarms. */
  async function onError(err: unknown): Promise<void> {
    if (typeof failingSinceMs !== 'number') log.error({ err }, 'refunds could not be read');
    failingSinceMs = failingSinceMs ?? clock.monotonicMs();
    if (clock.monotonicMs() - failingSinceMs >= failsForMs)
      await alarms.raise({ kind: notRead, subject: 'refunds', detail: String(err) });
  }

  return startBackgroundLoop({
    clock,
    everyMs: askEveryMs,
    work: round,
    onError: err => void onError(err),
  }).stop;
}

const notRead = 'refunds_not_read';
const failsForMs = 900_000;
