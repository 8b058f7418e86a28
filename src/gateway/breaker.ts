import type { Clock } from '../base/clock.ts';

/**
 * A circuit breaker: opens when the gateway does not answer, and keeps new work away from it until it does.
 * Written by hand: packages guard every call, but polls of unfinished payments must go through an open breaker.
 */
export interface Breaker {
  /** Whether to make a call that may as well be skipped. While open, one call per interval may try. */
  allowsCall(): boolean;
  onSuccess(): void;
  /** With a source, the source itself may be the cause. */
  onFailure(source?: FailureSource): void;
}

/** Who asked about what. A bad QR code says nothing about the gateway, however often one partner asks about it. */
export interface FailureSource {
  partner: string;
  qr: string;
}

/** This many calls in a row without an answer open it. */
const failuresToOpen = 10;
const retryIntervalMs = 2_000;
/** Without payments nobody tries; then this often a call about no payment does. */
const idleIntervalMs = 5_000;
/** Failures with a source count only if they come from at least this many, or a call without a source failed too. */
const minPartners = 2;
const minQrs = 3;

export interface BreakerOptions {
  clock: Clock;
  onChange(isOpen: boolean): void;
  /** Makes a call without a source, which counts as any other: it shows whether the sources or the gateway fail. */
  check(): Promise<void>;
  /** Ends the calls that are made without payments. */
  signal: AbortSignal;
}

export function createBreaker({ clock, onChange, check, signal }: BreakerOptions): Breaker {
  let streak = newStreak();
  /** Set while it is open. */
  let nextTryMs: number | undefined;
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
    while (nextTryMs !== undefined && !signal.aborted) {
      await clock.sleep(idleIntervalMs, signal);
      if (nextTryMs === undefined || signal.aborted) continue;
      if (clock.monotonicMs() >= nextTryMs + idleIntervalMs) await checkOnce();
    }
    isWatching = false;
  }

  return {
    allowsCall: () => {
      if (nextTryMs === undefined) return true;
      if (clock.monotonicMs() < nextTryMs) return false;
      // That call may take long; the next one may try after another interval.
      nextTryMs = clock.monotonicMs() + retryIntervalMs;
      return true;
    },
    onSuccess: () => {
      streak = newStreak();
      if (nextTryMs === undefined && hasReported) return;
      nextTryMs = undefined;
      hasReported = true;
      onChange(false);
    },
    onFailure: source => {
      streak.add(source);
      // Polls of unfinished payments are made while it is open; their failures do not postpone the next try.
      if (streak.length() < failuresToOpen || nextTryMs !== undefined) return;
      if (streak.failures() < failuresToOpen) return void checkOnce();
      nextTryMs = clock.monotonicMs() + retryIntervalMs;
      hasReported = true;
      onChange(true);
      void checkWhileIdle();
    },
  };
}

/** Failures in a row, without a success between them. */
function newStreak() {
  let plain = 0;
  let withSource = 0;
  const partners = new Set<string>();
  const qrs = new Set<string>();
  const isShared = () => plain > 0 || (partners.size >= minPartners && qrs.size >= minQrs);
  return {
    add: (source: FailureSource | undefined) => {
      if (!source) {
        plain += 1;
        return;
      }
      withSource += 1;
      // More need not be remembered.
      if (partners.size < minPartners) partners.add(source.partner);
      if (qrs.size < minQrs) qrs.add(source.qr);
    },
    length: () => plain + withSource,
    /** Those of the gateway itself. */
    failures: () => (isShared() ? plain + withSource : 0),
  };
}
