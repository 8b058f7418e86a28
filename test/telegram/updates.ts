import { setTimeout as sleep } from 'node:timers/promises';
import type { Update } from 'grammy/types';
import { Refusal } from './errors.ts';
import type { ParametersOf } from './parameters.ts';

/** After a refusal by the webhook; Telegram waits longer. */
const retryMs = 50;

export type Updates = ReturnType<typeof createUpdates>;

/** Updates for the bot, kept until it confirms them by its next poll, or its webhook answers 2xx. */
export function createUpdates() {
  let nextId = 814_300_117;
  let allowed: string[] = [];
  let endPoll = (_refusal?: Refusal) => {};
  let webhook: { url: string; secret: string } | undefined;
  let isDelivering = false;
  const pending: Update[] = [];

  const deliver = async () => {
    if (isDelivering) return;
    isDelivering = true;
    while (webhook && pending[0]) {
      const [update] = pending;
      const headers = {
        'content-type': 'application/json',
        'x-telegram-bot-api-secret-token': webhook.secret,
      };
      const isTaken = await fetch(webhook.url, {
        method: 'POST',
        headers,
        body: JSON.stringify(update),
      }).then(
        async response => (await response.arrayBuffer()) && response.ok,
        () => false,
      );
      if (isTaken) pending.shift();
      else await sleep(retryMs);
    }
    isDelivering = false;
  };

  const arrival = async (milliseconds: number, gone: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    endPoll = refusal => (refusal ? reject(refusal) : resolve());
    gone.addEventListener('abort', () => resolve());
    await promise.finally(() => clearTimeout(timer));
  };

  return {
    pending,
    push: (update: Omit<Update, 'update_id'>) => {
      if (allowed.length > 0 && !Object.keys(update).every(kind => allowed.includes(kind))) return;
      pending.push({ update_id: nextId++, ...update });
      endPoll();
      void deliver();
    },
    setWebhook: ({ url, secret_token = '', allowed_updates = [] }: ParametersOf<'setWebhook'>) => {
      webhook = { url, secret: secret_token };
      allowed = allowed_updates;
      void deliver();
    },
    deleteWebhook: () => {
      webhook = undefined;
    },
    poll: async (
      { offset = 0, limit = 100, timeout = 0, allowed_updates }: ParametersOf<'getUpdates'>,
      gone: AbortSignal,
    ) => {
      if (webhook) throw new Refusal(409, "Conflict: can't use getUpdates method while webhook is active");
      allowed = allowed_updates ?? allowed;
      endPoll(new Refusal(409, 'Conflict: terminated by other getUpdates request'));
      while (pending[0] && pending[0].update_id < offset) pending.shift();
      if (pending.length === 0 && timeout > 0 && !gone.aborted) await arrival(timeout * 1000, gone);
      return pending.slice(0, limit);
    },
  };
}
