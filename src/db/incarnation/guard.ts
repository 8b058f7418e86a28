import { NotAnsweringError, type Queryable } from '../pool.ts';
import { describeIdentity, type Identity, isSameIdentity, readIdentity } from './identity.ts';

/** Keeps a process with the incarnation that it joined. */
export interface IncarnationGuard {
  /** From now on every new connection must lead to this one. */
  stayWith(identity: Identity): void;
  /** Fails if a new connection leads to a standby or to another history. */
  check(session: Queryable): Promise<void>;
  /** False once another history was seen: nothing may be written any more, in old sessions neither. */
  isCurrent(): boolean;
  /** Resolves with a line for the log when another history is seen. */
  changed: Promise<string>;
}

export function createIncarnationGuard(): IncarnationGuard {
  let joined: Identity | undefined;
  let isCurrent = true;
  const change = Promise.withResolvers<string>();

  async function check(session: Queryable): Promise<void> {
    if (!joined) return;
    const found = await readIdentity(session);
    // A standby says nothing about the primary: this connection is of no use, and the next one may be.
    if (found.timeline === undefined) throw new NotAnsweringError('the database is a read-only standby');
    if (isSameIdentity(found, joined)) return;
    isCurrent = false;
    const line = `The database is another one than before (${describeIdentity(found)}; it was ${describeIdentity(joined)}).`;
    change.resolve(line);
    throw new NotAnsweringError(line);
  }

  return {
    stayWith: identity => {
      joined = identity;
    },
    check,
    isCurrent: () => isCurrent,
    changed: change.promise,
  };
}
