import { describeIdentity, type Identity, isOlderHistory, isSameIdentity } from './identity.ts';

/** What a node knows about the histories of its database. */
export interface SeenHistories {
  newest: Identity;
  /** Those that it had joined before: it has gone on elsewhere since. */
  left: Identity[];
}

export type NewestHistory = ReturnType<typeof createNewestHistory>;

/**
 * The newest history of the database that a node has seen, and those that it has left. They outlive the processes that saw them:
 * a primary that was replaced may come back, and a process that starts anew must not join it.
 */
export function createNewestHistory(known?: SeenHistories, onNewer: (identity: Identity) => void = () => {}) {
  let seen = known;
  const hasLeft = (found: Identity) => seen?.left.some(identity => isSameIdentity(identity, found)) ?? false;
  return {
    get: () => seen,
    see: (identity: Identity) => {
      if (seen && (isOlderHistory(identity, seen.newest) || hasLeft(identity))) return;
      if (seen && isSameIdentity(identity, seen.newest)) return;
      seen = { newest: identity, left: seen ? [...seen.left, seen.newest] : [] };
      onNewer(identity);
    },
    /** Why a history must not be joined; undefined if it may be. */
    objectionTo: (found: Identity) => {
      if (!seen) return undefined;
      const { newest } = seen;
      if (!isOlderHistory(found, newest) && !hasLeft(found)) return undefined;
      return `it is an older history (${describeIdentity(found)}; the newest was ${describeIdentity(newest)}), as of a primary that was replaced. If it is the right one, start the service again; if it was restored, with --restored`;
    },
  };
}
