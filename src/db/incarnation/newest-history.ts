import { type Identity, isOlderHistory } from './identity.ts';

/**
 * The newest history of the database that a node has seen. It outlives the processes that saw it: a primary that was replaced
 * may come back, and a process that starts anew must not join it.
 */
export interface NewestHistory {
  get(): Identity | undefined;
  see(identity: Identity): void;
}

export function createNewestHistory(
  known?: Identity,
  onNewer: (identity: Identity) => void = () => {},
): NewestHistory {
  let newest = known;
  return {
    get: () => newest,
    see: identity => {
      if (newest && isOlderHistory(identity, newest)) return;
      newest = identity;
      onNewer(identity);
    },
  };
}
