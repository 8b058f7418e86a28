import { randomInt } from 'node:crypto';
import { badRequest } from './errors.ts';

/** What the person sees after the press of a button: nothing, a short notice, or an alert. */
export interface CallbackAnswer {
  text: string | undefined;
  isAlert: boolean;
}

export interface Callback {
  id: string;
  answer: Promise<CallbackAnswer>;
}

export interface Callbacks {
  create(userId: number): Callback;
  answer(id: string, answer: CallbackAnswer): void;
  /** Ids of queries that the bot left without an answer so far: the button keeps spinning. */
  unanswered(): string[];
  /** From now on all queries so far are too old to be answered. */
  expire(): void;
}

const lifeMs = 60_000;

export function createCallbacks(now: () => number): Callbacks {
  const open = new Map<string, { until: number; resolve(answer: CallbackAnswer): void }>();
  return {
    create: userId => {
      const id = String((BigInt(userId) << 32n) + BigInt(randomInt(2 ** 32)));
      const { promise, resolve } = Promise.withResolvers<CallbackAnswer>();
      open.set(id, { until: now() + lifeMs, resolve });
      return { id, answer: promise };
    },
    answer: (id, answer) => {
      const query = open.get(id);
      if (!query || query.until < now()) {
        throw badRequest('query is too old and response timeout expired or query ID is invalid');
      }
      open.delete(id);
      query.resolve(answer);
    },
    unanswered: () => [...open.keys()],
    expire: () => {
      for (const query of open.values()) query.until = Number.NEGATIVE_INFINITY;
    },
  };
}
