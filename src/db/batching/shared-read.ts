import { isItemError, type Queryable } from '../postgres/index.ts';
import { createBatcher, whileOthersJoin } from './batch.ts';

/**
 * A read whose concurrent callers share one statement: a busy process would spend most of its time on one round trip per
 * request. The statement of a call is always sent after the call, so a caller that was notified of a change finds it.
 */
export function sharedRead<Question, Answer>(
  read: (db: Queryable, questions: Question[]) => Promise<Answer[]>,
): (db: Queryable, question: Question) => Promise<Answer> {
  // By handle: a read inside a transaction is answered inside it.
  const batchers = new WeakMap<Queryable, (question: Question) => Promise<Answer>>();
  return (db, question) => {
    const ask =
      batchers.get(db) ??
      createBatcher<Question, Answer>({
        isItemError,
        maxBatch: 256,
        maxWaiting: 5_000,
        gather: whileOthersJoin,
        run: questions => read(db, questions),
      });
    batchers.set(db, ask);
    return ask(question);
  };
}
