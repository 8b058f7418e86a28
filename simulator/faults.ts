import { randomUUID } from 'node:crypto';
import { BadInput, fieldsOf, integer, oneOf, optional, text } from './input.ts';

const calls = ['resolve', 'pay', 'poll', 'void', 'refunds'] as const;
export type CallName = (typeof calls)[number];

/**
 * A call goes through the stages in this order and takes the first fault that fits at each. So faults of different
 * stages combine: a delay, then a decline, then a lost answer.
 */
export type Stage = 'wait' | 'before' | 'outcome' | 'amount' | 'reference' | 'answer';

interface Kind {
  stage: Stage;
  on: readonly CallName[];
  params: readonly string[];
}

export const kinds = {
  delay: { stage: 'wait', on: calls, params: ['ms'] },
  drop_before: { stage: 'before', on: calls, params: [] },
  http_error: { stage: 'before', on: calls, params: ['status', 'body'] },
  busy: { stage: 'before', on: calls, params: [] },
  unavailable: { stage: 'before', on: calls, params: [] },
  changed_qr: { stage: 'before', on: ['pay'], params: [] },
  unresolvable: { stage: 'before', on: ['resolve'], params: [] },
  decline: { stage: 'outcome', on: ['pay'], params: ['reason'] },
  finish_later: { stage: 'outcome', on: ['pay'], params: ['ms', 'outcome', 'reason'] },
  wrong_amount: { stage: 'amount', on: ['resolve', 'pay'], params: [] },
  without_reference: { stage: 'reference', on: ['pay'], params: [] },
  answer_lost: { stage: 'answer', on: calls, params: [] },
  broken_json: { stage: 'answer', on: calls, params: [] },
  stall: { stage: 'answer', on: calls, params: [] },
} as const satisfies Record<string, Kind>;
type KindName = keyof typeof kinds;

/** A fault: a failure scenario of the gateway. */
export interface Fault {
  id: string;
  on: CallName;
  /** Null: any. */
  qrc_id: string | null;
  /** How many calls it still applies to; null: until cleared. */
  times: number | null;
  kind: KindName;
  ms?: number;
  outcome?: 'succeeded' | 'declined';
  reason?: string;
  status?: number;
  body?: unknown;
}

export function readFault(body: unknown): Fault {
  const kind = oneOf(fieldsOf(body), 'kind', Object.keys(kinds) as KindName[]);
  const { on, params }: Kind = kinds[kind];
  const fields = fieldsOf(body, ['id', 'on', 'qrc_id', 'times', 'kind', ...params]);
  const fault: Fault = {
    id: optional(text, fields, 'id', /^[\w-]{1,64}$/) ?? randomUUID(),
    on: oneOf(fields, 'on', on),
    qrc_id: optional(text, fields, 'qrc_id', /^\w{1,64}$/) ?? null,
    times: optional(integer, fields, 'times', 1) ?? null,
    kind,
  };
  if (params.includes('ms')) fault.ms = integer(fields, 'ms', 0, 86_400_000);
  if (params.includes('outcome')) fault.outcome = oneOf(fields, 'outcome', ['succeeded', 'declined']);
  if (params.includes('status')) fault.status = integer(fields, 'status', 200, 599);
  if (fields.body !== undefined) fault.body = fields.body;
  const isDecline = kind === 'decline' || fault.outcome === 'declined';
  if (!isDecline && fields.reason !== undefined) throw new BadInput('Only a declined order has a "reason".');
  if (isDecline)
    fault.reason = optional(text, fields, 'reason', /^\w{1,64}$/) ?? 'PAYMENT_EXECUTION_REJECTED';
  return fault;
}
