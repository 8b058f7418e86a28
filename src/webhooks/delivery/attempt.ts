import type { KeyObject } from 'node:crypto';
import { type Clock, instantOf } from '../../base/clock.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { PaymentTraces } from '../../payments/index.ts';
import { isFirst } from '../first-endpoint.ts';
import type { SendResult } from '../http/post.ts';
import type { Sender } from '../http/sender.ts';
import type { SigningKeys } from '../signing/signing-keys.ts';
import type { DueDelivery } from './due.ts';
import { envelope, eventHeaders, formatEventId } from './envelope.ts';
import type { AttemptResult } from './recorder.ts';
import { sign, standardHeaders } from './signatures.ts';
import { slowAfterMs } from './slots.ts';
import { mustSendTwice } from './test-mode.ts';

export interface AttemptDeps {
  db: Queryable;
  clock: Clock;
  sender: Sender;
  webhookRetryScheduleSec: number[];
  /** Undefined: no endpoint asks for its signatures. */
  signingKeys?: SigningKeys | undefined;
  /** Undefined: nothing is traced. */
  paymentTraces?: PaymentTraces | undefined;
}

/**
 * Makes one attempt and returns what to record of it. Undefined when nothing was sent because this machine had no
 * connection left: that does not count against the receiver.
 */
export async function attemptDelivery(
  deps: AttemptDeps,
  due: DueDelivery,
  signal: AbortSignal,
): Promise<AttemptResult | undefined> {
  const { clock, sender } = deps;
  const { partnerId, endpointId, event, attempts } = due;
  const at = instantOf(clock);
  const body = envelope(event);
  const privateKey = due.ed25519
    ? await deps.signingKeys?.current({ partnerId, mode: event.payment.mode })
    : undefined;
  const headers = signedHeaders(due, { atSec: Math.floor(at.getTime() / 1_000), body, privateKey });
  const span = await startSpan(deps, due);
  const traced = span ? { ...headers, traceparent: span.traceparent } : headers;
  const verdict = await sender
    .send({ url: due.url, headers: traced, body }, signal)
    .finally(() => span?.end());
  if (verdict.outcome === 'failed' && verdict.error === 'busy') return undefined;
  const isAccepted = wasAccepted(verdict);
  const { mode } = event.payment;
  const goesOutAgain = isAccepted && mode === 'test' && (await mustSendTwice(deps.db, due));
  const isDelivered = isAccepted && !goesOutAgain;
  return {
    partnerId,
    endpointId,
    mode,
    eventId: event.eventId,
    attempt: attempts + 1,
    isDelivered,
    hasHung: !isAccepted && verdict.durationMs >= slowAfterMs,
    status: verdict.outcome === 'answered' ? verdict.status : null,
    error: verdict.outcome === 'failed' ? verdict.error : null,
    responseBody: verdict.outcome === 'answered' ? (verdict.body ?? null) : null,
    durationMs: verdict.durationMs,
    nextAt: isDelivered ? null : goesOutAgain ? instantOf(clock) : nextAttemptAt(deps, attempts + 1),
    at,
  };
}

function signedHeaders(
  { partnerId, endpointId, event, secrets }: DueDelivery,
  { atSec, body, privateKey }: { atSec: number; body: string; privateKey: KeyObject | undefined },
) {
  const further = isFirst(partnerId, endpointId) ? undefined : endpointId;
  return {
    ...eventHeaders(event, sign(secrets, atSec, body), further),
    ...standardHeaders(secrets, { id: formatEventId(event.eventId), atSec, body }, privateKey),
  };
}

/** Without the URL, which may have a secret in it. */
const startSpan = ({ paymentTraces }: AttemptDeps, { event, attempts }: DueDelivery) =>
  paymentTraces?.startSpan(event.payment.paymentId, 'webhook delivery', {
    kind: 'client',
    attributes: {
      'kopeck.payment_id': event.payment.paymentId,
      'kopeck.event_id': formatEventId(event.eventId),
      'kopeck.attempt': attempts + 1,
    },
  });

const wasAccepted = (verdict: SendResult) =>
  verdict.outcome === 'answered' && verdict.status >= 200 && verdict.status < 300;

/** The backoff: the retry schedule has the pause before each attempt. Null after the last: the event is given up. */
function nextAttemptAt({ clock, webhookRetryScheduleSec }: AttemptDeps, attemptsMade: number): Date | null {
  const pauseSec = webhookRetryScheduleSec[attemptsMade];
  return pauseSec === undefined ? null : new Date(clock.nowMs() + pauseSec * 1_000);
}
