import type { ApiClientOptions } from 'grammy';
import type { Clock } from '../base/clock.ts';
import { createFetch } from '../http-client/index.ts';

/** A hundred updates with the longest texts have less. */
const maxAnswerBytes = 8 * 1024 * 1024;

/** How the library calls Telegram. Its own `fetch` reads answers of any length. */
export const telegramClient = (clock: Clock, apiRoot: string, timeoutMs: number): ApiClientOptions => ({
  apiRoot,
  // The types of the library are those of another `fetch`.
  fetch: createFetch({ clock, timeoutMs, maxBytes: maxAnswerBytes }) as unknown as NonNullable<
    ApiClientOptions['fetch']
  >,
});
