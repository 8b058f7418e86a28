import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookInfo } from 'grammy/types';
import type { Queued, Updates } from './updates.ts';

export interface WebhookSettings {
  url: string;
  secretToken: string | undefined;
}

export interface Webhook {
  readonly isSet: boolean;
  set(settings: WebhookSettings): void;
  remove(): void;
  info(): WebhookInfo;
}

/** Shorter than Telegram's, since tests wait for it. */
const firstDelayMs = 50;
const longestDelayMs = 1_000;
const timeoutMs = 10_000;

/** Sends updates to the bot's webhook until it answers 2xx: chats in parallel, in order within a chat. */
export function createWebhook(updates: Updates, now: () => number): Webhook {
  let active: { settings: WebhookSettings; stop: AbortController } | undefined;
  let lastError: { last_error_date: number; last_error_message: string } | undefined;
  const busyChats = new Set<number>();

  const post = async (queued: Queued, { url, secretToken }: WebhookSettings, signal: AbortSignal) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(secretToken !== undefined && { 'x-telegram-bot-api-secret-token': secretToken }),
      },
      body: JSON.stringify(queued.update),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    await response.arrayBuffer();
    if (!response.ok)
      throw new Error(`Wrong response from the webhook: ${response.status} ${response.statusText}`);
  };

  const deliver = async (queued: Queued, settings: WebhookSettings, signal: AbortSignal) => {
    for (
      let delay = firstDelayMs;
      !signal.aborted && updates.pending.includes(queued);
      delay = Math.min(delay * 2, longestDelayMs)
    ) {
      try {
        await post(queued, settings, signal);
        return updates.confirm(queued);
      } catch (error) {
        lastError = {
          last_error_date: Math.floor(now() / 1000),
          last_error_message: (error as Error).message,
        };
        await sleep(delay, undefined, { signal }).catch(() => {});
      }
    }
  };

  const pump = () => {
    if (!active) return;
    const { settings, stop } = active;
    for (const queued of updates.pending) {
      if (busyChats.has(queued.chatId)) continue;
      busyChats.add(queued.chatId);
      void deliver(queued, settings, stop.signal).finally(() => {
        busyChats.delete(queued.chatId);
        pump();
      });
    }
  };
  updates.onArrival(pump);

  const remove = () => {
    active?.stop.abort();
    active = undefined;
    lastError = undefined;
  };
  return {
    get isSet() {
      return active !== undefined;
    },
    set: settings => {
      remove();
      active = { settings, stop: new AbortController() };
      pump();
    },
    remove,
    info: () => ({
      url: active?.settings.url ?? '',
      has_custom_certificate: false,
      pending_update_count: updates.pending.length,
      ...lastError,
    }),
  };
}
