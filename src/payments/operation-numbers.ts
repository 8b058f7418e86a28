import { type Id, uuidFromId } from '../base/ids.ts';
import { createBatcher, sharedRead, whileOthersJoin } from '../db/batching/index.ts';
import { columnsOf, commitsWithoutWaiting, isItemError, type Queryable } from '../db/postgres/index.ts';
import type { Payment } from './payment.ts';

interface OperationNumber {
  paymentId: Id<'pay'>;
  operationNumber: string;
}

const maxWaiting = 5_000;

/**
 * Keeps what SBP calls a payment; the first number of a payment stays. It is a write of its own after the payment ended, so that it
 * can neither delay nor fail the end of a payment. If it is lost, reconciliation reads the number from the list of orders.
 */
export const createOperationNumbers = (db: Queryable) =>
  createBatcher<OperationNumber, void>({
    run: async numbers => {
      await db.query({
        name: 'keep operation numbers',
        text: `INSERT INTO operation_numbers (payment_id, operation_number)
                 SELECT n.* FROM ${commitsWithoutWaiting}, unnest($1::uuid[], $2::text[]) AS n ON CONFLICT DO NOTHING`,
        values: [
          numbers.map(({ paymentId }) => uuidFromId(paymentId)),
          ...columnsOf(numbers, 'operationNumber'),
        ],
      });
      return numbers.map(() => undefined);
    },
    isItemError,
    maxBatch: 256,
    maxWaiting,
    gather: whileOthersJoin,
  });

const findNumbers = sharedRead(async (db, paymentIds: Id<'pay'>[]) => {
  const { rows } = await db.query<{ item: number; number: string }>({
    name: 'find operation numbers',
    text: `SELECT n.operation_number AS number, k.item::int FROM unnest($1::uuid[]) WITH ORDINALITY AS k (id, item)
             JOIN operation_numbers n ON n.payment_id = k.id`,
    values: [paymentIds.map(uuidFromId)],
  });
  const found = new Array<string | undefined>(paymentIds.length).fill(undefined);
  for (const { item, number } of rows) found[item - 1] = number;
  return found;
});

/** Undefined: not known, or none, since only a succeeded payment has one. */
export const findOperationNumber = (
  db: Queryable,
  { paymentId, status }: Pick<Payment, 'paymentId' | 'status'>,
): Promise<string | undefined> =>
  status === 'succeeded' ? findNumbers(db, paymentId) : Promise.resolve(undefined);
