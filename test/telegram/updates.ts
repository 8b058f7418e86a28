import type { Update } from 'grammy/types';
import { Refusal } from './errors.ts';

export type NewUpdate = Omit<Update, 'update_id'>;

export interface Queued {
  /** Updates of one chat go to a webhook one after the other. */
  chatId: number;
  update: Update;
}

export interface Poll {
  offset?: number;
  limit?: number;
  timeout?: number;
}

export interface Updates {
  pending: Queued[];
  push(chatId: number, update: NewUpdate): void;
  /** Sets the kinds of updates; an empty list means the default kinds. */
  allow(kinds: string[] | undefined): void;
  confirm(queued: Queued): void;
  drop(): void;
  poll(poll: Poll, gone: AbortSignal): Promise<Update[]>;
  onArrival(listener: () => void): void;
}

const conflict =
  'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running';

/** Updates for the bot, kept until it confirms them. */
export function createUpdates(): Updates {
  let nextId = 814_300_117;
  let allowed: string[] = [];
  let endOther = () => {};
  const pending: Queued[] = [];
  const listeners = new Set<() => void>();

  const confirmBelow = (offset: number) => {
    // A negative offset counts from the end, and drops earlier updates.
    const first = offset >= 0 ? offset : nextId + offset;
    while (pending[0] && pending[0].update.update_id < first) pending.shift();
  };

  const arrival = async (milliseconds: number, gone: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = () => reject(new Refusal(409, conflict));
    const timer = setTimeout(resolve, milliseconds);
    const wake = () => resolve();
    listeners.add(wake);
    gone.addEventListener('abort', wake);
    endOther = end;
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      listeners.delete(wake);
      if (endOther === end) endOther = () => {};
    }
  };

  return {
    pending,
    push: (chatId, update) => {
      if (allowed.length > 0 && !Object.keys(update).every(kind => allowed.includes(kind))) return;
      pending.push({ chatId, update: { update_id: nextId++, ...update } });
      for (const listener of [...listeners]) listener();
    },
    allow: kinds => {
      if (kinds) allowed = kinds;
    },
    confirm: queued => {
      const index = pending.indexOf(queued);
      // It may have been dropped while it was being sent.
      if (index >= 0) pending.splice(index, 1);
    },
    drop: () => void pending.splice(0),
    poll: async ({ offset = 0, limit = 100, timeout = 0 }, gone) => {
      // As in Telegram, a new poller replaces the waiting one, which gets 409.
      endOther();
      if (offset !== 0) confirmBelow(offset);
      if (pending.length === 0 && timeout > 0 && !gone.aborted) await arrival(timeout * 1000, gone);
      return pending.slice(0, limit).map(queued => queued.update);
    },
    onArrival: listener => void listeners.add(listener),
  };
}
