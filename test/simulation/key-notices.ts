import type { Random } from '../helpers/random.ts';
import type { World } from './world.ts';

interface Subscriber {
  processName: string;
  isListening: boolean;
  onMessage(): void;
}

/** The notifications of changed keys, as LISTEN gives them: in time, or after the connection is there again. */
export function createKeyNotices(world: World, random: Random, withinMs: number) {
  const { scheduler } = world;
  const subscribers: Subscriber[] = [];

  function connectAfter(ms: number, subscriber: Subscriber): void {
    const run = () => {
      subscriber.isListening = true;
      subscriber.onMessage();
    };
    scheduler.after(ms, { processName: subscriber.processName, run });
  }

  return {
    subscribe: (processName: string, onMessage: () => void) => {
      const subscriber = { processName, isListening: false, onMessage };
      subscribers.push(subscriber);
      connectAfter(random.between(0, 1_000), subscriber);
      return { isListening: () => subscriber.isListening, close: () => Promise.resolve() };
    },
    /** A key has changed. */
    announce: () => {
      for (const subscriber of subscribers) {
        if (!subscriber.isListening) continue;
        if (random.chance(0.2)) {
          subscriber.isListening = false;
          connectAfter(random.between(0, 10_000), subscriber);
        } else
          scheduler.after(random.between(0, withinMs), {
            processName: subscriber.processName,
            run: subscriber.onMessage,
          });
      }
    },
  };
}
