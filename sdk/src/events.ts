import { KopeckError } from './errors.ts';
import type { CallOptions } from './payments.ts';
import { asksAgain, pauseMs } from './retries.ts';
import type { Transport } from './transport.ts';
import type { EventPage, EventParams, PaymentEvent } from './types.ts';

/** Remembers where a reader was: one text, in a file, a row, a key. Of each mode its own. */
export interface PositionStore {
  load(): string | null | undefined | Promise<string | null | undefined>;
  save(eventId: string): void | Promise<void>;
}

export interface ReadOptions {
  /** Where the reader was. It is told after each event that has been handled. */
  store?: PositionStore | undefined;
  /** The id of the last event that you have; used when the store has nothing yet. None: from the first. */
  from?: string | undefined;
  /** False: ends when all that there is has been read. Otherwise it waits for more. */
  follow?: boolean | undefined;
  /** How long to wait when there is nothing new; 2 s unless told otherwise. */
  pollMs?: number | undefined;
  /** Ends the reading, without an error. */
  signal?: AbortSignal | undefined;
  /** Hears of failures that a following reader outlasts. */
  onError?: ((error: KopeckError) => void) | undefined;
}

export interface Events {
  /** One page, oldest first. */
  list(params?: EventParams, options?: CallOptions): Promise<EventPage>;
  /**
   * All events, oldest first, each at least once and none left out: `for await (const event of …)`. An event counts as
   * handled when the loop asks for the next one; one that was left by `break` or an error comes again.
   */
  read(options?: ReadOptions): AsyncIterable<PaymentEvent>;
}

export function createEvents(transport: Transport): Events {
  const list: Events['list'] = (params = {}, { signal } = {}) =>
    transport.json('GET', 'events', { query: { ...params }, signal });

  async function* read(options: ReadOptions): AsyncGenerator<PaymentEvent, void, undefined> {
    const { store, signal, follow = true, pollMs = 2_000, onError } = options;
    let position = (await store?.load()) ?? options.from;
    let failures = 0;
    while (!signal?.aborted) {
      let page: EventPage;
      try {
        page = await list({ after: position, limit: 100 }, { signal });
        failures = 0;
      } catch (error) {
        if (signal?.aborted) return;
        if (!follow || !(error instanceof KopeckError) || !asksAgain(error, true)) throw error;
        onError?.(error);
        await transport.sleep(pauseMs(++failures, undefined, Math.random), signal);
        continue;
      }
      for (const event of page.data) {
        yield event;
        // Whoever asks for the next one has handled this one.
        await store?.save(event.id);
        position = event.id;
        if (signal?.aborted) return;
      }
      if (page.has_more) continue;
      if (!follow) return;
      await transport.sleep(pollMs, signal);
    }
  }

  return { list, read: (options = {}) => ({ [Symbol.asyncIterator]: () => read(options) }) };
}
