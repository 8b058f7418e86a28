import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentEvent } from '../../sdk/src/index.ts';
import {
  type Announced,
  createSender,
  eventHeaders,
  parseEventId,
  sign,
  type Verdict,
} from '../webhooks/index.ts';

/** One attempt. */
export interface Tried {
  at: Date;
  /** A status, or why there is none. */
  answer: string;
  durationMs: number;
  /** Undefined when it was taken, or is given up. */
  againInSec: number | undefined;
  isLast: boolean;
}

/** How it ended with an event. */
export interface Forwarded {
  at: Date;
  delivered: boolean;
  attempts: number;
  status: number | null;
  error: string | null;
  durationMs: number;
}

export interface Forwarder {
  /** Until the receiver takes the event or it is given up; undefined when told to stop before. */
  forward(event: PaymentEvent, body: string): Promise<Forwarded | undefined>;
  close(): Promise<void>;
}

const pausesSec = [1, 2, 4, 8];
const longestPauseSec = 10;
/** Somebody who answers has a fault that waiting does not mend; the events behind this one should be seen, too. */
const triesOfWhoAnswers = pausesSec.length + 1;

/** Sends as the service does, with its headers and its patience, and more often: whoever develops is at the screen. */
export function createForwarder({
  url,
  secret,
  signal,
  onTried,
}: {
  url: string;
  secret: string;
  signal: AbortSignal;
  onTried(event: PaymentEvent, tried: Tried): void;
}): Forwarder {
  const sender = createSender({ allowPrivate: true });

  async function attempt(event: PaymentEvent, body: string): Promise<Verdict> {
    const signature = sign([secret], Math.floor(Date.now() / 1_000), body);
    return sender.send({ url, headers: eventHeaders(announced(event), signature), body }, signal);
  }

  async function forward(event: PaymentEvent, body: string): Promise<Forwarded | undefined> {
    let answered = 0;
    for (let attempts = 1; ; attempts++) {
      const at = new Date();
      const verdict = await attempt(event, body).catch(error => {
        if (signal.aborted) return undefined;
        throw error;
      });
      if (!verdict) return undefined;
      const status = verdict.outcome === 'answered' ? verdict.status : null;
      const error = verdict.outcome === 'failed' ? verdict.error : null;
      const delivered = status !== null && status >= 200 && status < 300;
      if (status !== null) answered += 1;
      const isLast = delivered || answered >= triesOfWhoAnswers;
      const againInSec = isLast ? undefined : (pausesSec[attempts - 1] ?? longestPauseSec);
      const { durationMs } = verdict;
      onTried(event, {
        at,
        answer: `${status ?? error}`,
        durationMs,
        againInSec,
        isLast: isLast && !delivered,
      });
      if (againInSec === undefined) return { at, delivered, attempts, status, error, durationMs };
      await sleep(againInSec * 1_000, undefined, { signal }).catch(() => {});
      if (signal.aborted) return undefined;
    }
  }

  return { forward, close: sender.close };
}

/** What the service knows of the event, from what it says about it. */
const announced = ({ id, data }: PaymentEvent): Announced => ({
  eventId: parseEventId(id)!,
  payment: {
    paymentId: data.id as Announced['payment']['paymentId'],
    status: data.status,
    settledAt: new Date(data.settled_at!),
  },
});
