import { KopeckError } from './errors.ts';
import type { CallOptions } from './payments.ts';
import { retryDelayMs, shouldRetry } from './retries.ts';
import type { Transport } from './transport.ts';
import type { EventPage, EventParams, PaymentEvent } from './types.ts';

/** Stores the position of a reader: one string, in a file, a row or a key. Each mode needs its own. */
export interface PositionStore {
  load(): string | null | undefined | Promise<string | null | undefined>;
  save(eventId: string): void | Promise<void>;
}

export interface ReadOptions {
  /** The stored position. It is saved after each handled event. */
  store?: PositionStore | undefined;
  /**
   * The id of the last event that you have, or `latest` for new events only; for an empty store. Without it, reading
   * starts at the first event.
   */
  from?: string | undefined;
  /** Also lists these events, which are not part of the contract. */
  extraEvents?: EventParams['extra_events'];
  /** False: ends after the last event. By default it waits for more. */
  follow?: boolean | undefined;
  /** How long to wait when there is nothing new; 2 s by default. */
  pollMs?: number | undefined;
  /** Ends the loop without an error. */
  signal?: AbortSignal | undefined;
  /** Called for failures that are retried while following. */
  onError?: ((error: KopeckError) => void) | undefined;
}

export interface Events {
  /** One page, oldest first. */
  list(params?: EventParams, options?: CallOptions): Promise<EventPage>;
  /**
   * All events, oldest first, each at least once and none left out: `for await (const event of …)`. An event counts as
   * handled when the loop asks for the next one; after a `break` or an error it comes again.
   */
  read(options?: ReadOptions): AsyncIterable<PaymentEvent>;
}

export function createEvents(transport: Transport): Events {
  const list: Events['list'] = (params = {}, { signal } = {}) =>
    transport.json('GET', 'events', { query: { ...params }, signal });

  async function* read(options: ReadOptions): AsyncGenerator<PaymentEvent, void, undefined> {
    const { store, signal, follow = true, pollMs = 2_000, onError, extraEvents } = options;
    let position = (await store?.load()) ?? options.from;
    let failures = 0;
    while (!signal?.aborted) {
      let page: EventPage;
      try {
        page = await list({ after: position, limit: 100, extra_events: extraEvents }, { signal });
        failures = 0;
      } catch (error) {
        if (signal?.aborted) return;
        if (!follow || !(error instanceof KopeckError) || !shouldRetry(error, true)) throw error;
        onError?.(error);
        await transport.sleep(retryDelayMs(++failures), signal);
        continue;
      }
      for (const event of page.data) {
        yield event;
        // The loop asks for the next event, so this one has been handled.
        await store?.save(event.id);
        position = event.id;
        if (signal?.aborted) return;
      }
      // `latest` moves with each new event, so it is replaced by the place where it was. And a page can end after its last event.
      if (position === 'latest' || page.has_more) {
        if (position !== page.next_cursor) await store?.save(page.next_cursor);
        position = page.next_cursor;
      }
      if (page.has_more) continue;
      if (!follow) return;
      await transport.sleep(pollMs, signal);
    }
  }

  return { list, read: (options = {}) => ({ [Symbol.asyncIterator]: () => read(options) }) };
}
