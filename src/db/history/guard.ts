import { NotAnsweringError, OldHistoryError, type Queryable } from '../postgres/index.ts';
import { describeIdentity, type Identity, isSameIdentity, readIdentity } from './identity.ts';
import type { NewestHistory } from './newest-history.ts';

/** Keeps a process with the incarnation that it joined. */
export function createIncarnationGuard(history: NewestHistory) {
  let joined: Identity | undefined;
  let isCurrent = true;
  const change = Promise.withResolvers<string>();
  /** This process cannot go on with the database, for the reason in the line. */
  const leave = (line: string) => {
    isCurrent = false;
    change.resolve(line);
  };

  /** Fails if a new connection leads to a standby or to another history; an older one is never joined. */
  async function check(session: Queryable): Promise<void> {
    if (!history.get()) return;
    const found = await readIdentity(session);
    // A standby says nothing about the primary: this connection is of no use, and the next one may be.
    if (found.timeline === undefined) throw new NotAnsweringError('the database is a read-only standby');
    const objection = history.objectionTo(found);
    if (objection) throw new OldHistoryError(objection);
    if (!joined || isSameIdentity(found, joined)) return;
    history.see(found);
    const line = `The database has changed (${describeIdentity(found)}; before: ${describeIdentity(joined)}).`;
    leave(line);
    throw new NotAnsweringError(line);
  }

  return {
    /** From now on every new connection must lead to this one. */
    stayWith: (identity: Identity) => {
      joined = identity;
      history.see(identity);
    },
    check,
    /** False once a newer history was seen, or this process must leave: nothing may be written any more, in old sessions neither. */
    isCurrent: () => isCurrent,
    leave,
    /** Resolves with a line for the log when a newer history is seen, or this process must leave. */
    changed: change.promise,
  };
}
