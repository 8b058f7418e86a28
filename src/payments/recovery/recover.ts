import type { Clock } from '../../base/clock.ts';
import { isDatabaseUnreachable, type Queryable } from '../../db/pool.ts';
import type { Presence } from '../../db/presence.ts';
import type { Gateway } from '../../gateway/index.ts';
import { testOutcome } from '../create/scenarios.ts';
import { type EndDeps, endPayment } from '../end.ts';
import type { Ending } from '../store.ts';
import type { LeaseRelease } from './lease-release.ts';
import {
  claimDue,
  type DuePayment,
  listLeaseHolders,
  releaseLeases,
  scheduleNextPoll,
} from './open-payments.ts';

export interface RecoverDeps extends EndDeps {
  db: Queryable;
  clock: Clock;
  gateway: Gateway;
  presence: Pick<Presence, 'instance' | 'findDead'>;
  leaseRelease: LeaseRelease;
}

/** Pauses between looks at an unfinished payment; the last one repeats. */
const pausesMs = [2_000, 5_000, 10_000, 30_000, 60_000];
export const firstPollMs = pausesMs[0]!;
const pauseAfter = (tries: number) => pausesMs[Math.min(tries, pausesMs.length - 1)]!;

/** If a process gets stuck while it looks, another one looks again after so long. */
const claimMs = 30_000;
const claimAtOnce = 50;

const supportAfterMs = 2 * 3_600_000;

/** Looks at every payment whose time has come. Returns how many there were. */
export async function recoverDuePayments(deps: RecoverDeps): Promise<number> {
  const looks = await startLooks(deps, claimAtOnce);
  await Promise.all(looks);
  return looks.length;
}

async function startLooks(deps: RecoverDeps, limit: number): Promise<Promise<void>[]> {
  const until = new Date(deps.clock.nowMs() + claimMs);
  const due = await claimDue(deps.db, deps.clock, { until, leaseHolder: deps.presence.instance, limit });
  return due.map(payment =>
    pollPayment(deps, payment).catch(error => {
      // Not for other errors: what fails by itself would fail again at once.
      if (isDatabaseUnreachable(error)) deps.leaseRelease.releaseLease(payment.paymentId);
      throw error;
    }),
  );
}

async function pollPayment(deps: RecoverDeps, payment: DuePayment): Promise<void> {
  if (payment.mode === 'test') return finish(deps, payment, testOutcome(payment));

  const polled = await deps.gateway.poll(payment);
  // That the order is unknown proves nothing while the request for it may still be on its way; voiding it does.
  const answer = polled.outcome === 'order_unknown' ? await deps.gateway.void(payment) : polled;
  switch (answer.outcome) {
    case 'succeeded':
      return finish(deps, payment, { outcome: 'succeeded', orderId: answer.orderId });
    case 'declined':
      return finish(deps, payment, { outcome: 'failed', code: answer.code, orderId: answer.orderId });
    case 'voided':
      return finish(deps, payment, { outcome: 'failed', code: 'not_executed' });
    case 'accepted':
      return waitLonger(deps, payment, { review: false, orderId: answer.orderId });
    case 'unknown': {
      const { paymentId: subject } = payment;
      if (answer.contradicts)
        await deps.alarms.raise({ kind: 'gateway_contradiction', subject, detail: answer.why });
      return waitLonger(deps, payment, { review: true });
    }
  }
}

async function finish(deps: RecoverDeps, payment: DuePayment, ending: Ending): Promise<void> {
  const { partnerId, mode, paymentId } = payment;
  const { changed, standing } = await endPayment(deps, { partnerId, mode, paymentId, ...ending });
  if (standing === 'processing') return waitLonger(deps, payment, { review: true });
  if (changed && isOverdue(deps, payment)) await deps.alarms.clear(overdue, paymentId);
}

const nextLook = ({ clock }: RecoverDeps, { tries }: DuePayment) =>
  new Date(clock.nowMs() + pauseAfter(tries));

const overdue = 'payment_overdue';

/** Two hours without an end are a matter for support; looking goes on. The alarm is raised until it is on record, and then the mark is set for good. */
async function waitLonger(
  deps: RecoverDeps,
  payment: DuePayment,
  known: { review: boolean; orderId?: string },
): Promise<void> {
  const { clock, db } = deps;
  const at = nextLook(deps, payment);
  if (!isOverdue(deps, payment)) return void (await scheduleNextPoll(db, payment, { at, ...known }));
  const isOnRecord = payment.supportSince !== null || (await askForSupport(deps, payment));
  const mark = isOnRecord ? { supportSince: new Date(clock.nowMs()) } : {};
  const goesOn = await scheduleNextPoll(db, payment, { at, ...known, review: true, ...mark });
  if (!goesOn) await deps.alarms.clear(overdue, payment.paymentId);
}

const isOverdue = ({ clock }: RecoverDeps, { createdAt }: DuePayment) =>
  clock.nowMs() - createdAt.getTime() >= supportAfterMs;

const askForSupport = ({ alarms }: RecoverDeps, { paymentId, createdAt }: DuePayment): Promise<boolean> =>
  alarms.raise({
    kind: overdue,
    subject: paymentId,
    detail: `Unfinished since ${createdAt.toISOString()}: find out what the bank side has, then kopeck payment resolve.`,
  });

/** A process is taken for dead when it was missing twice, so that one which is just reconnecting keeps its payments. */
const lookForDeadEveryMs = 1_500;

async function releaseOrphans(deps: RecoverDeps, suspects: Set<number>): Promise<Set<number>> {
  const { db, clock, presence } = deps;
  const leaseHolders = await listLeaseHolders(db);
  const gone = await presence.findDead(leaseHolders.filter(leaseHolder => leaseHolder !== presence.instance));
  const dead = gone.filter(leaseHolder => suspects.has(leaseHolder));
  if (dead.length > 0) await releaseLeases(db, clock, dead);
  return new Set(gone);
}

const lookEveryMs = 500;

/**
 * Looks for due payments until told to stop, and then finishes what it has begun. One that the gateway is slow about
 * holds up no other.
 */
export function startRecovery(
  deps: RecoverDeps & {
    log: { error(details: object, message: string): void };
    /** Is told how to have payments looked for at once. */
    onStart?: (nudge: () => void) => void;
  },
) {
  const { clock } = deps;
  const stop = new AbortController();
  const underWay = new Set<Promise<void>>();
  let sleeping = new AbortController();
  deps.onStart?.(() => sleeping.abort('nudged'));
  const report = (err: unknown) => deps.log.error({ err }, 'an unfinished payment could not be looked at');

  async function lookForDue(): Promise<void> {
    while (!stop.signal.aborted) {
      const looks = await startLooks(deps, claimAtOnce - underWay.size).catch(err => {
        report(err);
        return [];
      });
      for (const look of looks) {
        const guarded = look.catch(report).finally(() => underWay.delete(guarded));
        underWay.add(guarded);
      }
      if (underWay.size >= claimAtOnce) await Promise.race(underWay);
      else await rest();
    }
    await Promise.all(underWay);
  }

  async function rest(): Promise<void> {
    await clock.sleep(lookEveryMs, AbortSignal.any([stop.signal, sleeping.signal]));
    if (sleeping.signal.aborted) sleeping = new AbortController();
  }

  async function lookForDead(): Promise<void> {
    let suspects = new Set<number>();
    while (!stop.signal.aborted) {
      suspects = await releaseOrphans(deps, suspects).catch(err => {
        report(err);
        return new Set();
      });
      await clock.sleep(lookForDeadEveryMs, stop.signal);
    }
  }

  const finished = Promise.all([lookForDue(), lookForDead()]);
  return async () => {
    stop.abort();
    await finished;
  };
}
