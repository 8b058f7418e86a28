import { instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, newId, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit.ts';
import type { Queryable } from '../db/pool.ts';
import type { Permission, SignedIn } from '../operators/index.ts';

/** Who acts. By id: a name can be given anew, an id cannot. */
export type Operator = Pick<SignedIn, 'operatorId' | 'name'>;

export type RequestKind = 'resolve' | 'credit' | 'thresholds';
export type RequestState = 'waiting' | 'approved' | 'refused' | 'withdrawn' | 'void';

/** Something that one operator has asked for and another has to approve. */
export interface OperatorRequest {
  requestId: Id<'apr'>;
  kind: RequestKind;
  /** The payment, the partner, or `service`. */
  subject: string;
  /** Of a credit: what names it. */
  reference: string;
  change: Record<string, string>;
  amountKopecks: bigint | null;
  microUsdt: bigint | null;
  reason: string;
  askedBy: Id<'opr'>;
  askedName: string;
  askedAt: Date;
  state: RequestState;
  decidedName: string | null;
  decidedAt: Date | null;
}

/** Who may ask for it may approve it, if it is somebody else. */
export const neededFor: Record<RequestKind, Permission> = {
  resolve: 'payments.resolve',
  credit: 'balances.credit',
  thresholds: 'settings.thresholds',
};

/** Neither under another name, nor under the same name as somebody new. */
export const isAsker = ({ askedBy, askedName }: OperatorRequest, { operatorId, name }: Operator) =>
  askedBy === operatorId || askedName === name;

interface RequestFields extends Omit<OperatorRequest, 'requestId' | 'askedBy'> {
  id: string;
  asked_by: string;
}

const select = `SELECT id, kind, subject, reference, change, amount_kopecks AS "amountKopecks", micro_usdt AS "microUsdt",
                       reason, asked_by, asked_name AS "askedName", asked_at AS "askedAt", state,
                       decided_name AS "decidedName", decided_at AS "decidedAt"
                  FROM operator_requests`;

const toRequest = ({ id, asked_by, ...fields }: RequestFields): OperatorRequest => ({
  ...fields,
  requestId: idFromUuid('apr', id),
  askedBy: idFromUuid('opr', asked_by),
});

/** Nobody else decides on it until the transaction ends, and it is as it is now and not as it was. */
export async function lockRequest(tx: Queryable, requestId: Id<'apr'>): Promise<OperatorRequest | undefined> {
  const { rows } = await tx.query<RequestFields>({
    text: `${select} WHERE id = $1 FOR UPDATE`,
    values: [uuidFromId(requestId)],
  });
  return rows[0] && toRequest(rows[0]);
}

interface About {
  kind: RequestKind;
  subject: string;
  reference?: string;
}

/** What waits about this, if anything does; locked before what it is about, as approving does: one order of locks. */
export async function lockWaiting(
  tx: Queryable,
  { kind, subject, reference = '' }: About,
): Promise<OperatorRequest | undefined> {
  const { rows } = await tx.query<RequestFields>({
    text: `${select} WHERE kind = $1 AND subject = $2 AND reference = $3 AND state = 'waiting' FOR UPDATE`,
    values: [kind, subject, reference],
  });
  return rows[0] && toRequest(rows[0]);
}

export type Waiting = { outcome: 'waiting' | 'already_waiting'; request: OperatorRequest };

/** From here on it waits for a second person. One about the same thing waits at a time. */
export async function leaveRequest(
  tx: Queryable,
  audit: AuditContext,
  { operatorId, name }: Operator,
  asked: About &
    Pick<OperatorRequest, 'change' | 'reason'> &
    Partial<Pick<OperatorRequest, 'amountKopecks' | 'microUsdt'>>,
): Promise<Waiting> {
  const { kind, subject, reference = '', change, reason, amountKopecks = null, microUsdt = null } = asked;
  const requestId = newId('apr', audit.clock);
  const { rowCount } = await tx.query({
    text: `INSERT INTO operator_requests (id, kind, subject, reference, change, amount_kopecks, micro_usdt, reason,
                                          asked_by, asked_name, asked_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
           ON CONFLICT (kind, subject, reference) WHERE state = 'waiting' DO NOTHING`,
    values: [
      uuidFromId(requestId),
      kind,
      subject,
      reference,
      change,
      amountKopecks,
      microUsdt,
      reason,
      uuidFromId(operatorId),
      name,
      instantOf(audit.clock),
    ],
  });
  if (rowCount === 0) {
    const request = await lockWaiting(tx, { kind, subject, reference });
    // Whoever was in the way has been decided on in this very moment.
    return request
      ? { outcome: 'already_waiting', request }
      : leaveRequest(tx, audit, { operatorId, name }, asked);
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

/** Ends the waiting, for good; on record with both names. */
export async function decide(
  tx: Queryable,
  audit: AuditContext,
  { operatorId, name }: Operator,
  request: OperatorRequest,
  state: keyof typeof actions,
  why?: string,
): Promise<void> {
  const { requestId, kind, subject, change, askedName } = request;
  const { rowCount } = await tx.query({
    text: `UPDATE operator_requests SET state = $2, decided_by = $3, decided_name = $4, decided_at = $5
            WHERE id = $1 AND state = 'waiting'`,
    values: [uuidFromId(requestId), state, uuidFromId(operatorId), name, instantOf(audit.clock)],
  });
  if (rowCount !== 1) throw new Error(`request ${requestId} was decided on twice`);
  await recordChange(tx, audit, {
    action: actions[state],
    subject,
    before: { request_id: requestId, kind, asked_by: askedName, ...change },
    after: { state, decided_by: name, ...(why === undefined ? {} : { why }) },
  });
}

const mostListed = 200;

/** The newest first: in this state, about this subject, or all. */
export async function listRequests(
  db: Queryable,
  { state, subjects }: { state?: RequestState | undefined; subjects?: string[] } = {},
): Promise<OperatorRequest[]> {
  const { rows } = await db.query<RequestFields>({
    text: `${select} WHERE ($1::text IS NULL OR state = $1) AND ($2::text[] IS NULL OR subject = ANY ($2))
            ORDER BY id DESC LIMIT ${mostListed}`,
    values: [state ?? null, subjects ?? null],
  });
  return rows.map(toRequest);
}

export async function countWaiting(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    text: `SELECT count(*)::int AS count FROM operator_requests WHERE state = 'waiting'`,
  });
  return rows[0]!.count;
}
