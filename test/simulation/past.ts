import type { BookedPayment, Books } from './books.ts';

/** What a history of the database begins with. */
export interface Past {
  books: Books;
  endedByOperator: Set<string>;
  /** Payments that were rebuilt from their orders. */
  rebuilt: Set<string>;
  /** What the operator has credited, by partner: the bank side does not know it. */
  topUps: Map<string, number>;
  /** What was returned of their payments, by partner. */
  refunded: Map<string, number>;
  /** Partners remember what they have seen, whatever the database forgets. */
  reported: Set<string>;
  /** A payment of a history that was lost. One that it had undone is voided when it is undone again. */
  findLost(paymentId: string): BookedPayment | undefined;
}

/** Of the first history of a run. */
export const noPast = (): Past => ({
  books: {
    ...{ payments: [], accounts: [], alarms: [] },
    open: { dueMs: null, leaseHolders: [] },
  },
  endedByOperator: new Set(),
  rebuilt: new Set(),
  topUps: new Map(),
  refunded: new Map(),
  reported: new Set(),
  findLost: () => undefined,
});
