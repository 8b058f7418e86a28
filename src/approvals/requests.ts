import { instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, newId, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import {
  findRow,
  hasRow,
  type Queryable,
  readRows,
  readValue,
  type Statement,
} from '../db/postgres/index.ts';
import type { Permission, SignedIn } from '../operators/index.ts';

/** The acting operator. Identified by id, since a name can be reused after a removal. */
export type Operator = Pick<SignedIn, 'operatorId' | 'name'>;

export type RequestKind = 'resolve' | 'credit' | 'thresholds' | 'release' | 'deposit';
export type RequestState = 'waiting' | 'approved' | 'refused' | 'withdrawn' | 'void';

/** A change that one operator asked for and another has to decide on: four-eyes approval. */
export interface OperatorRequest {
  requestId: Id<'apr'>;
  kind: RequestKind;
  /** The payment, the partner, `service`, the unmatched order, or the deposit. */
  subject: string;
  /** The reference of a credit; empty for other kinds. */
  reference: string;
  change: Record<string, string>;
  amountKopecks: bigint | null;
  microUsdt: bigint | null;
  reason: string;
  requestedBy: Id<'opr'>;
  requesterName: string;
  askedAt: Date;
  state: RequestState;
  decidedName: string | null;
  decidedAt: Date | null;
}

/** Asking and approving need the same permission, but two operators. */
export const permissionFor: Record<RequestKind, Permission> = {
  resolve: 'payments.resolve',
  credit: 'balances.credit',
  thresholds: 'settings.thresholds',
  release: 'payments.resolve',
  deposit: 'balances.credit',
};

/** Also true for the same operator under a new name, and for a new operator under the same name. */
export const isRequester = (
  { requestedBy, requesterName }: OperatorRequest,
  { operatorId, name }: Operator,
) => requestedBy === operatorId || requesterName === name;

interface RequestFields extends Omit<OperatorRequest, 'requestId' | 'requestedBy'> {
  id: string;
  asked_by: string;
}

const select = `SELECT id, kind, subject, reference, change, amount_kopecks AS "amountKopecks", micro_usdt AS "microUsdt",
                       reason, asked_by, asked_name AS "requesterName", asked_at AS "askedAt", state,
                       decided_name AS "decidedName", decided_at AS "decidedAt"
                  FROM operator_requests`;

const toRequest = ({ id, asked_by, ...fields }: RequestFields): OperatorRequest => ({
  ...fields,
  requestId: idFromUuid('apr', id),
  requestedBy: idFromUuid('opr', asked_by),
});

async function findRequest(db: Queryable, statement: Statement): Promise<OperatorRequest | undefined> {
  const fields = await findRow<RequestFields>(db, statement);
  return fields && toRequest(fields);
}

/** Reads the current row and locks it until the transaction ends. */
export const lockRequest = (tx: Queryable, requestId: Id<'apr'>) =>
  findRequest(tx, { text: `${select} WHERE id = $1 FOR UPDATE`, values: [uuidFromId(requestId)] });

interface RequestSubject {
  kind: RequestKind;
  subject: string;
  reference?: string;
}

/** The open request about a subject, if any. Locked before the subject itself, in the lock order of `approveRequest`. */
export const lockWaitingRequest = (tx: Queryable, about: RequestSubject) =>
  findWaiting(tx, about, 'FOR UPDATE');

const findWaiting = (
  tx: Queryable,
  { kind, subject, reference = '' }: RequestSubject,
  lock: 'FOR UPDATE' | '' = '',
) =>
  findRequest(tx, {
    text: `${select} WHERE kind = $1 AND subject = $2 AND reference = $3 AND state = 'waiting' ${lock}`,
    values: [kind, subject, reference],
  });

export type Waiting = { outcome: 'waiting' | 'already_waiting'; request: OperatorRequest };

/** Stores a request that waits for a second operator. Only one per kind, subject and reference waits at a time. */
export async function createRequest(
  tx: Queryable,
  audit: AuditContext,
  { operatorId, name }: Operator,
  asked: RequestSubject &
    Pick<OperatorRequest, 'change' | 'reason'> &
    Partial<Pick<OperatorRequest, 'amountKopecks' | 'microUsdt'>>,
): Promise<Waiting> {
  const { kind, subject, reference = '', change, reason, amountKopecks = null, microUsdt = null } = asked;
  const requestId = newId('apr', audit.clock);
  const isStored = await hasRow(tx, {
    text: `INSERT INTO operator_requests (id, kind, subject, reference, change, amount_kopecks, micro_usdt, reason,
                                          asked_by, asked_name, asked_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
           ON CONFLICT (kind, subject, reference) WHERE state = 'waiting' DO NOTHING`,
    values: [
      ...[uuidFromId(requestId), kind, subject, reference, change, amountKopecks, microUsdt, reason],
      ...[uuidFromId(operatorId), name, instantOf(audit.clock)],
    ],
  });
  if (!isStored) {
    // Without a lock: this transaction has locked the thresholds, which another one with a lock on the request may wait for.
    const request = await findWaiting(tx, asked);
    // The request in the way was closed in the meantime: try again.
    return request
      ? { outcome: 'already_waiting', request }
      : createRequest(tx, audit, { operatorId, name }, asked);
  }
  await recordChange(tx, audit, {
    action: 'request.ask',
    subject,
    after: { request_id: requestId, kind, ...change },
  });
  return { outcome: 'waiting', request: (await lockRequest(tx, requestId))! };
}

const actions = {
  approved: 'request.approve',
  refused: 'request.refuse',
  withdrawn: 'request.withdraw',
  void: 'request.void',
} as const;

/** Closes a waiting request; the audit record has the names of both operators. */
export async function closeRequest(
  tx: Queryable,
  audit: AuditContext,
  { operatorId, name }: Operator,
  request: OperatorRequest,
  { state, why }: { state: keyof typeof actions; why?: string },
): Promise<void> {
  const { requestId, kind, subject, change, requesterName } = request;
  const isClosed = await hasRow(tx, {
    text: `UPDATE operator_requests SET state = $2, decided_by = $3, decided_name = $4, decided_at = $5
            WHERE id = $1 AND state = 'waiting'`,
    values: [uuidFromId(requestId), state, uuidFromId(operatorId), name, instantOf(audit.clock)],
  });
  if (!isClosed) throw new Error(`request ${requestId} was decided on twice`);
  await recordChange(tx, audit, {
    action: actions[state],
    subject,
    before: { request_id: requestId, kind, asked_by: requesterName, ...change },
    after: { state, decided_by: name, ...(why === undefined ? {} : { why }) },
  });
}

const maxListed = 200;

/** Newest first; optionally only those in one state, or about some subjects. */
export async function listRequests(
  db: Queryable,
  { state, subjects }: { state?: RequestState | undefined; subjects?: string[] } = {},
): Promise<OperatorRequest[]> {
  const rows = await readRows<RequestFields>(db, {
    text: `${select} WHERE ($1::text IS NULL OR state = $1) AND ($2::text[] IS NULL OR subject = ANY ($2))
            ORDER BY id DESC LIMIT ${maxListed}`,
    values: [state ?? null, subjects ?? null],
  });
  return rows.map(toRequest);
}

export const countWaiting = (db: Queryable) =>
  readValue<number>(db, { text: `SELECT count(*)::int FROM operator_requests WHERE state = 'waiting'` });
