import { type Clock, instantOf } from '../base/clock.ts';
import { idFromUuid, uuidFromId } from '../base/ids.ts';
import { lockTimeoutOf, setsLockTimeout } from '../db/lock-wait.ts';
import type { LockWait } from '../db/own-lanes.ts';
import type { Queryable } from '../db/pool.ts';
import { type NewPayment, openingArray, openingColumnCount, openingValues } from './openings.ts';
import type { OpenResult } from './results.ts';

/** Parameters that every form has: the time, the openings, the lock timeout and the quota of test mode. */
const commonCount = openingColumnCount + 3;

/** `arrays` more parameters come between the openings and the time. */
const statementOf = (name: string, arrays = 0) => ({
  name,
  text: `
  SELECT verdict, payment_id, balance
    FROM ${setsLockTimeout(`$${openingColumnCount + 2}`, '$1::timestamptz')},
         ${name}(${[
           openingArray(2),
           ...Array.from({ length: arrays }, (_, nth) => `$${commonCount + 1 + nth}`),
           'call.argument',
           `$${commonCount}`,
         ].join(', ')})
   ORDER BY item`,
});

const plain = statementOf('payments_open');
const limited = statementOf('payments_open_limited', 2);
const quoted = statementOf('payments_open_quoted', 3);

/** The statement that opens these payments, and its arrays beyond the openings. */
function formOf(payments: NewPayment[]) {
  if (payments.some(({ quoteId }) => quoteId !== undefined))
    return {
      ...quoted,
      arrays: [payments.map(({ quoteId }) => uuidFromId(quoteId!)), ...limitsOf(payments)],
    };
  if (payments.some(({ keyLimit }) => keyLimit)) return { ...limited, arrays: limitsOf(payments) };
  return { ...plain, arrays: [] };
}

const limitsOf = (payments: NewPayment[]) => [
  payments.map(({ keyLimit }) => keyLimit?.keyId ?? null),
  payments.map(({ keyLimit }) => keyLimit?.dailyKopecks ?? null),
];

/** Opens payments in one statement: all have a quote, or none; without quotes, all have a `keyLimit`, or none. */
export async function openAll(
  db: Queryable,
  clock: Clock,
  payments: NewPayment[],
  lockWait: LockWait,
  { testPaymentsPerDay = null }: { testPaymentsPerDay?: number | null },
): Promise<OpenResult[]> {
  const at = instantOf(clock);
  const { name, text, arrays } = formOf(payments);
  const { rows } = await db.query<{
    verdict: OpenResult['verdict'];
    payment_id: string | null;
    balance: bigint;
  }>({
    name,
    text,
    values: [at, ...openingValues(payments), lockTimeoutOf(lockWait), testPaymentsPerDay, ...arrays],
  });
  return rows.map(row => ({
    verdict: row.verdict,
    paymentId: row.payment_id === null ? undefined : idFromUuid('pay', row.payment_id),
    balanceMicroUsdt: row.balance,
    at,
  }));
}
