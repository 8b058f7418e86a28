import type { Clock } from '../base/clock.ts';

/** This many calls in a row without an answer open it. */
const failuresToOpen = 10;
/** If partners may be the cause of all of them, also no call of anybody has succeeded for so long. */
const quietMs = 5_000;
const retryIntervalMs = 2_000;
/** About so many calls try in an interval, however many partners wait. */
const triesPerInterval = 10;
/** Never more, also when many come at once who have missed their turn. Twice as many, so that those find a free one. */
const maxTriesPerInterval = 20;
/** Without payments nobody tries; then this often a call about no payment does. */
const idleIntervalMs = 5_000;

export interface BreakerOptions {
  clock: Clock;
  onChange(isOpen: boolean): void;
  /** Makes a call without a source, which counts as any other: it shows whether the sources or the gateway fail. */
  check(): Promise<void>;
  /** Ends the calls that are made without payments. */
  signal: AbortSignal;
}

export type Breaker = ReturnType<typeof createBreaker>;

/**
 * A circuit breaker: opens when the gateway does not answer, and keeps new work away from it until it does.
 * Written by hand: packages guard every call, but polls of unfinished payments must go through an open breaker.
 */
export function createBreaker({ clock, onChange, check, signal }: BreakerOptions) {
  let streak = newStreak(clock.monotonicMs());
  /** Set while it is open. */
  let tries: ReturnType<typeof newTries> | undefined;
  /** The first success is reported too: an earlier process may have reported that the gateway is unreachable. */
  let hasReported = false;
  let isChecking = false;
  let isWatching = false;

  async function checkOnce(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    await check();
    isChecking = false;
  }

  /**
   * Only while payments do not try: their failure says more than the success of a call about no payment, which would
   * close it again and again for a gateway that lists orders but reads no QR code.
   */
  async function checkWhileIdle(): Promise<void> {
    if (isWatching) return;
    isWatching = true;
    while (tries && !signal.aborted) {
      await clock.sleep(idleIntervalMs, signal);
      if (!tries || signal.aborted) continue;
      if (clock.monotonicMs() >= tries.lastMs + retryIntervalMs + idleIntervalMs) await checkOnce();
    }
    isWatching = false;
  }

  return {
    /**
     * Whether to make a call that may as well be skipped. While open, some may try. A partner that had no failure since the
     * last success is not held back: if its calls work, only others' codes are bad, and its first answer closes the breaker.
     * The others try in turn, each partner by itself, and codes that have failed together: a bad code takes nobody else's
     * turn.
     */
    allowsCall: (source: FailureSource) => {
      if (!tries) return true;
      const nowMs = clock.monotonicMs();
      if (streak.hasPartner(source))
        return tries.take(streak.hasQr(source) ? failedCodes : source.partner, nowMs);
      tries.lastMs = nowMs;
      return true;
    },
    onSuccess: () => {
      streak = newStreak(clock.monotonicMs());
      if (!tries && hasReported) return;
      tries = undefined;
      hasReported = true;
      onChange(false);
    },
    /** The source may be the cause, unless no source can be. */
    onFailure: (source: FailureSource | undefined, canBeCause: boolean): void => {
      streak.add(source, canBeCause);
      // Polls of unfinished payments are made while it is open; their failures do not postpone the next try.
      if (streak.length() < failuresToOpen || tries) return;
      const nowMs = clock.monotonicMs();
      if (!streak.hasCertain()) {
        if (!streak.isShared()) return void checkOnce();
        if (nowMs - streak.sinceMs < quietMs) return;
      }
      tries = newTries(nowMs);
      hasReported = true;
      onChange(true);
      void checkWhileIdle();
    },
  };
}

const failedCodes = 'codes that have failed';

const turnMs = retryIntervalMs / triesPerInterval;

/** Turns come one after the other: each one's first in the order in which they ask, the next when all have had theirs. */
function newTries(openedMs: number) {
  const nextMs = new Map<string, number>();
  let lastTurnMs = openedMs + retryIntervalMs - turnMs;
  let interval = { endMs: openedMs, left: 0 };
  const firstTurnAt = (nowMs: number) => {
    lastTurnMs = Math.max(lastTurnMs + turnMs, nowMs);
    return lastTurnMs;
  };
  const tries = {
    /** The last one, or when it opened. */
    lastMs: openedMs,
    /** Whether it is the turn of this one. */
    take: (who: string, nowMs: number): boolean => {
      const ownMs = nextMs.get(who) ?? firstTurnAt(nowMs);
      nextMs.set(who, ownMs);
      if (nowMs >= interval.endMs) interval = { endMs: nowMs + retryIntervalMs, left: maxTriesPerInterval };
      if (nowMs < ownMs || interval.left === 0) return false;
      interval.left -= 1;
      // That call may take long; the next one of the same may try after another interval.
      nextMs.set(who, nowMs + Math.max(retryIntervalMs, turnMs * nextMs.size));
      tries.lastMs = nowMs;
      return true;
    },
  };
  return tries;
}

/** Who asked about what. A bad QR code says nothing about the gateway, however often some partners ask about it. */
export interface FailureSource {
  partner: string;
  qr: string;
}

/** Failures of which sources may be the cause count only if they come from at least this many. */
const minPartners = 2;
const minQrs = 3;
/** More are not remembered: such partners count as failed, such codes do not. */
const maxPartners = 10_000;
const maxQrs = 1_000;

/** Failures in a row, without a success between them. */
export function newStreak(sinceMs: number) {
  let length = 0;
  let hasCertain = false;
  const partners = new Set<string>();
  const qrs = new Set<string>();
  return {
    /** When it could begin: the time of the last success. */
    sinceMs,
    add: (source: FailureSource | undefined, canBeCause: boolean) => {
      length += 1;
      if (!source || !canBeCause) hasCertain = true;
      if (!source) return;
      if (partners.size < maxPartners) partners.add(source.partner);
      if (qrs.size < maxQrs) qrs.add(source.qr);
    },
    length: () => length,
    /** One of them cannot be the fault of a source. */
    hasCertain: () => hasCertain,
    isShared: () => partners.size >= minPartners && qrs.size >= minQrs,
    hasPartner: ({ partner }: FailureSource) => partners.size === maxPartners || partners.has(partner),
    hasQr: ({ qr }: FailureSource) => qrs.has(qr),
  };
}
