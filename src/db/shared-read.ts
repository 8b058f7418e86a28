import { createBatcher, nextLoopTurn } from './batch.ts';
import { isItemError, type Queryable } from './pool.ts';

/**
 * A read whose callers share a statement while many ask at once: a round trip per request is what a busy process
 * spends most of its time on. Each is answered by a statement that was sent after it asked, so whoever has been told
 * of a change finds it.
 */
export function sharedRead<Question, Answer>(
  read: (db: Queryable, questions: Question[]) => Promise<Answer[]>,
): (db: Queryable, question: Question) => Promise<Answer> {
  // By handle: what is asked within a transaction is answered within it.
  const askers = new WeakMap<Queryable, (question: Question) => Promise<Answer>>();
  return (db, question) => {
    const ask =
      askers.get(db) ??
      createBatcher<Question, Answer>({
        isItemError,
        laneOf: () => 0,
        maxBatch: 256,
        maxWaiting: 5_000,
        gather: nextLoopTurn,
        run: questions => read(db, questions),
      });
    askers.set(db, ask);
    return ask(question);
  };
}
