import { sqlStateOf } from '../postgres/index.ts';

/** A disk can be slow for a moment, so payments are refused later than /readyz says so. */
const maxHangingBeats = 3;

const hanging = 'the database does not commit';

/**
 * Whether the database commits. Without its synchronous standby it does not, while reads work. Counts the beats during which a commit was under way or did not succeed.
 */
export function watchCommits(isAnswering: () => boolean) {
  let isPending = false;
  let failedBeats = 0;
  let reason = hanging;

  return {
    nextBeat: () => {
      if (isPending || failedBeats > 0) failedBeats += 1;
    },
    commit: async (send: () => Promise<unknown>): Promise<void> => {
      isPending = true;
      try {
        await send();
        failedBeats = 0;
        reason = hanging;
      } catch (error) {
        const isReadOnly = sqlStateOf(error) === '25006';
        failedBeats = Math.max(failedBeats, isReadOnly ? maxHangingBeats + 1 : 1);
        reason = isReadOnly ? 'the database is read-only' : hanging;
        throw error;
      } finally {
        isPending = false;
      }
    },
    /** False while a payment would only wait, or be refused. It also needs an answer to reads. */
    canCommit: () => isAnswering() && failedBeats <= maxHangingBeats,
    /** Why the last beat was not committed; at once, from memory. Undefined while beats are committed. */
    whyNone: () => (failedBeats > 0 ? reason : undefined),
  };
}
