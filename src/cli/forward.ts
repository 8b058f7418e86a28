import type { Fetch, PaymentEvent } from '../../sdk/src/index.ts';
import { instantOf, systemClock } from '../base/clock.ts';
import { parseJson, stringifyJson } from '../base/json.ts';
import * as webhooks from '../webhooks/index.ts';
import { callService } from './remote.ts';

/** One attempt to deliver an event. */
export interface ForwardAttempt {
  at: Date;
  /** How many there were, with this one. */
  attempts: number;
  delivered: boolean;
  status: number | null;
  error: string | null;
  durationMs: number;
  /** Undefined when the event was delivered or will not be retried. */
  retryInSec: number | undefined;
}

const backoffSec = [1, 2, 4, 8];
const maxBackoffSec = 10;
/** A receiver that answers with an error has a bug that waiting does not fix; the next events should arrive too. */
const maxAnsweredAttempts = backoffSec.length + 1;

/** Sends like the service, with the same headers and timeouts, but with a short backoff: a developer is watching. */
export function createForwarder({
  url,
  secret,
  signal,
  onAttempt,
}: {
  url: string;
  secret: string;
  signal: AbortSignal;
  onAttempt(event: PaymentEvent, attempt: ForwardAttempt): void;
}) {
  const sender = webhooks.createSender({ clock: systemClock, allowPrivate: true });

  async function send(event: PaymentEvent, body: string): Promise<webhooks.SendResult> {
    const atSec = Math.floor(systemClock.nowMs() / 1_000);
    const headers = {
      ...webhooks.eventHeaders(announced(event), webhooks.sign([secret], atSec, body)),
      ...webhooks.standardHeaders([secret], { id: event.id, atSec, body }),
    };
    return sender.send({ url, headers, body }, signal);
  }

  /** Retries until the receiver accepts the event or the attempts are used up: the last one, or undefined when aborted before. */
  async function forward(event: PaymentEvent, body: string): Promise<ForwardAttempt | undefined> {
    let answered = 0;
    for (let attempts = 1; ; attempts++) {
      const at = instantOf(systemClock);
      const verdict = await send(event, body).catch(error => {
        if (signal.aborted) return undefined;
        throw error;
      });
      if (!verdict) return undefined;
      const status = verdict.outcome === 'answered' ? verdict.status : null;
      const error = verdict.outcome === 'failed' ? verdict.error : null;
      const delivered = status !== null && status >= 200 && status < 300;
      if (status !== null) answered += 1;
      const isLast = delivered || answered >= maxAnsweredAttempts;
      const retryInSec = isLast ? undefined : (backoffSec[attempts - 1] ?? maxBackoffSec);
      const attempt = {
        ...{ at, attempts, delivered, status, error },
        durationMs: verdict.durationMs,
        retryInSec,
      };
      onAttempt(event, attempt);
      if (retryInSec === undefined) return attempt;
      await systemClock.sleep(retryInSec * 1_000, signal);
      if (signal.aborted) return undefined;
    }
  }

  return { forward, close: sender.close };
}

/** The fields that the webhook headers are made of, taken from the public event. */
const announced = ({ id, data }: PaymentEvent): webhooks.EventReference => ({
  eventId: webhooks.parseEventId(id)!,
  payment: {
    paymentId: data.id as webhooks.EventReference['payment']['paymentId'],
    status: data.status,
    settledAt: new Date(data.settled_at!),
  },
});

/**
 * A `fetch` that keeps the text of the events on the last page. The SDK uses `JSON.parse`, which rounds long numbers and
 * reorders keys; a receiver must get the bytes that a webhook would carry.
 */
export function createRecordingFetch(): { recordingFetch: Fetch; bytesOf(eventId: string): string } {
  let page = new Map<string, string>();
  return {
    recordingFetch: async (url, init) => {
      const response = await callService(url, init);
      const text = await response.text();
      if (response.status === 200 && new URL(url).pathname.endsWith('/v1/events')) page = eventsIn(text);
      return { status: response.status, headers: response.headers, text: async () => text };
    },
    bytesOf: eventId => {
      const bytes = page.get(eventId);
      if (bytes === undefined) throw new Error(`${eventId} is not on the last page`);
      return bytes;
    },
  };
}

function eventsIn(text: string): Map<string, string> {
  const answer = parseJson(text);
  const events = answer instanceof Map ? answer.get('data') : undefined;
  if (!Array.isArray(events)) return new Map();
  return new Map(
    events.flatMap(event => {
      const id = event instanceof Map ? event.get('id') : undefined;
      return typeof id === 'string' ? [[id, stringifyJson(event)] as const] : [];
    }),
  );
}
