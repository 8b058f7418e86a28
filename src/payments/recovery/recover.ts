import { type BackgroundLoop, startBackgroundLoop } from '../../base/background-loop.ts';
import { isDatabaseUnreachable } from '../../db/postgres/index.ts';
import { findDeadHolders, type Heartbeat, pauseUntilDue } from '../../db/processes/index.ts';
import type { Mode } from '../../ledger/index.ts';
import type { LeaseRelease } from './lease-release.ts';
import { claimDue, releaseLeases } from './open-payments.ts';
import { type PollDeps, pollPayment } from './poll-payment.ts';

export interface RecoverDeps extends PollDeps {
  heartbeat: Pick<Heartbeat, 'instance' | 'findDead'>;
  leaseRelease: LeaseRelease;
  /** Payments of dead processes are due now. */
  onReleased?: () => void;
}

/** How often each loop runs. */
export const recoveryLoopsMs = {
  /** While a payment is due. */
  due: 500,
  /** While payments wait; one that gets due earlier is polled then. */
  waiting: 1_000,
  /** While none is unfinished. The first poll of a new one is due later than that, and a dead process is noticed apart. */
  idle: 2_000,
  findDead: 1_500,
};
/** Per mode: live polls that hang must not delay test payments. */
const maxConcurrentPolls = 50;
/** The lease of a poll: if this process hangs in it, another process polls the payment after so long. */
const pollLeaseMs = 30_000;

/** Claims the payments that are due and starts to poll each of them. */
export async function startDuePolls(
  deps: RecoverDeps,
  limits: Record<Mode, number> = { live: maxConcurrentPolls, test: maxConcurrentPolls },
) {
  const until = new Date(deps.clock.nowMs() + pollLeaseMs);
  const leaseHolder = deps.heartbeat.instance;
  const { due, firstDueMs } = await claimDue(deps.db, deps.clock, { until, leaseHolder, limits });
  const polls = due.map(payment => ({
    mode: payment.mode,
    poll: pollPayment(deps, payment).catch(error => {
      // Only for a lost database: a payment that fails by itself would fail again at once.
      if (isDatabaseUnreachable(error)) deps.leaseRelease.releaseLease(payment.paymentId);
      throw error;
    }),
  }));
  return { polls, firstDueMs };
}

/**
 * Releases the leases of dead processes, so that their payments are due now. A process counts as dead when it was
 * missing in two rounds: one that is just reconnecting to the database keeps its leases. Returns the missing ones.
 */
async function releaseDeadLeases(deps: RecoverDeps, suspects: Set<number>): Promise<Set<number>> {
  const { db, clock, heartbeat } = deps;
  const missing = await findDeadHolders(db, heartbeat, 'open_payments');
  const dead = missing.filter(holder => suspects.has(holder));
  if (dead.length > 0) {
    await releaseLeases(db, clock, dead);
    deps.onReleased?.();
  }
  return new Set(missing);
}

/** Polls unfinished payments when they are due. Stopping drains the polls under way. */
function startPolling(
  deps: RecoverDeps,
  { onError, onUnfinished }: { onError(error: unknown): void; onUnfinished(): void },
) {
  const underWay = { live: new Set<Promise<void>>(), test: new Set<Promise<void>>() };
  const freeOf = (mode: Mode) => maxConcurrentPolls - underWay[mode].size;
  let hasUnfinished = true;

  async function pollDue(): Promise<number> {
    const { polls, firstDueMs } = await startDuePolls(deps, { live: freeOf('live'), test: freeOf('test') });
    for (const { mode, poll } of polls) {
      const guarded = poll.catch(onError).finally(() => {
        // Others of the mode have waited for it.
        if (freeOf(mode) === 0) loop.runNow();
        underWay[mode].delete(guarded);
      });
      underWay[mode].add(guarded);
    }
    const isFirst = !hasUnfinished && firstDueMs !== undefined;
    hasUnfinished = firstDueMs !== undefined;
    if (isFirst) onUnfinished();
    return pauseUntilDue(deps.clock.nowMs(), firstDueMs, recoveryLoopsMs);
  }
  const loop = startBackgroundLoop({
    clock: deps.clock,
    everyMs: recoveryLoopsMs.due,
    work: pollDue,
    onError,
  });
  return {
    /** As of the last look. Without any, nobody has a lease. */
    hasUnfinished: () => hasUnfinished,
    runNow: loop.runNow,
    stop: async () => {
      await loop.stop();
      await Promise.all([...underWay.live, ...underWay.test]);
    },
  };
}

/**
 * Polls unfinished payments when they are due, and takes over those of dead processes. A payment that the gateway is slow
 * about delays no other, and live payments delay no test payments. Stopping drains the polls under way.
 */
export function startRecovery(
  deps: RecoverDeps & { log: { error(details: object, message: string): void } },
): BackgroundLoop {
  const { clock } = deps;
  const onError = (err: unknown) => deps.log.error({ err }, 'an unfinished payment could not be polled');
  const polling = startPolling(deps, { onError, onUnfinished: () => takingOver.runNow() });
  let suspects = new Set<number>();
  const takingOver = startBackgroundLoop({
    clock,
    everyMs: recoveryLoopsMs.findDead,
    work: async () => {
      const before = suspects;
      suspects = new Set();
      if (!polling.hasUnfinished()) return recoveryLoopsMs.idle;
      suspects = await releaseDeadLeases({ ...deps, onReleased: polling.runNow }, before);
      return undefined;
    },
    onError,
  });

  return {
    runNow: polling.runNow,
    stop: async () => {
      await Promise.all([polling.stop(), takingOver.stop()]);
    },
  };
}
