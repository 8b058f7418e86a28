import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { type JsonObject, parseJson } from '../../base/json.ts';
import { hasRow, type Queryable } from '../../db/postgres/index.ts';
import { pruneOlder } from '../../db/retention/index.ts';
import type { Mode } from '../../ledger/index.ts';
import type { Payment } from '../payment.ts';

/**
 * Failure scenarios that a test payment requests in `metadata.kopeck_scenario`, so that integrators can test how their
 * code handles them. `scenarioIn` and `scenarioOf` are the only ways to read a scenario, and return none for a live
 * payment.
 */
export const scenarios = {
  answer_lost:
    'The payment is accepted, but the connection breaks before the response; a retry gets the payment.',
  unavailable_twice: '`gateway_unavailable` with `Retry-After` twice per key; the third request is accepted.',
  webhook_twice: 'The event is delivered a second time, with the same id.',
  webhooks_out_of_order: 'The event is held back until your next event is sent, for at most 30 seconds.',
  rate_stale: 'Every request gets `rate_unavailable`.',
  review_succeeds: '`processing` with `manual_review` at first; `succeeded` after 2 minutes.',
  review_fails: '`processing` with `manual_review` at first; `failed` after 2 minutes.',
} as const;
export type Scenario = keyof typeof scenarios;

const field = 'kopeck_scenario';

/** What a request asks for. Metadata belong to the partner: an unknown value is ignored. */
export function scenarioIn(mode: Mode, metadata: JsonObject): Scenario | undefined {
  if (mode !== 'test') return undefined;
  const value = metadata.get(field);
  return typeof value === 'string' && Object.hasOwn(scenarios, value) ? (value as Scenario) : undefined;
}

/** What the request of a payment on record asked for. */
export function scenarioOf({ mode, metadata }: Pick<Payment, 'mode' | 'metadata'>): Scenario | undefined {
  if (mode !== 'test' || !metadata.includes(field)) return undefined;
  return scenarioIn(mode, parseJson(metadata) as JsonObject);
}

type TestPayment = Pick<Payment, 'mode' | 'metadata' | 'amountKopecks'>;

const unknownForMs = 30_000;
const reviewForMs = 120_000;

export const hasReviewScenario = (payment: TestPayment) =>
  scenarioOf(payment)?.startsWith('review_') ?? false;

/** The delay after which a test payment gets its outcome; undefined when it gets it at once. */
export function outcomeAfterMs(payment: TestPayment): number | undefined {
  if (payment.mode !== 'test') return undefined;
  if (hasReviewScenario(payment)) return reviewForMs;
  return payment.amountKopecks % 100n === 2n ? unknownForMs : undefined;
}

/** How a test payment ends, for its request and, after a delay or a crash, for recovery. */
export function testOutcome(payment: TestPayment) {
  const scenario = scenarioOf(payment);
  const isDeclined = payment.amountKopecks % 100n === 1n && scenario !== 'review_succeeds';
  return isDeclined || scenario === 'review_fails'
    ? ({ outcome: 'failed', code: 'gateway_declined' } as const)
    : ({ outcome: 'succeeded' } as const);
}

const maxRefusals = 2;
/** A refused request opens no payment, so the daily quota does not bound these rows. They are pruned after 30 days. */
export const maxRefusedKeys = 10_000;

/**
 * Counts a refusal of `unavailable_twice`; false when there were enough, of this key or of this partner. A crash after
 * it counts as a refusal.
 */
export const countRefusal = (db: Queryable, clock: Clock, partnerId: Id<'prt'>, idempotencyKey: string) =>
  hasRow(db, {
    text: `INSERT INTO test_refusals AS r (partner_id, idempotency_key, times, at)
           SELECT $1, $2, 1, $3
            WHERE (SELECT count(*) FROM (SELECT FROM test_refusals WHERE partner_id = $1 LIMIT $5) AS k) < $5
               OR EXISTS (SELECT FROM test_refusals WHERE partner_id = $1 AND idempotency_key = $2)
           ON CONFLICT (partner_id, idempotency_key) DO UPDATE SET times = r.times + 1 WHERE r.times < $4`,
    values: [uuidFromId(partnerId), idempotencyKey, instantOf(clock), maxRefusals, maxRefusedKeys],
  });

export const pruneRefusals = (db: Queryable, clock: Clock): Promise<number> =>
  pruneOlder(db, clock, { table: 'test_refusals', since: 'at', keptDays: 30 });
