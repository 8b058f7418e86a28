import type { BookedPayment, Books } from './books.ts';

/** What a history of the database begins with. */
export interface Past {
  books: Books;
  endedByOperator: Set<string>;
  /** Payments that were rebuilt from their orders. */
  rebuilt: Set<string>;
  /** Partners remember what they have seen, whatever the database forgets. */
  reported: Set<string>;
  /** A payment of a history that was lost. */
  findLost(paymentId: string): BookedPayment | undefined;
}

/** Of the first history of a run. */
export const noPast = (): Past => ({
  books: { payments: [], accounts: [], alarms: [], open: { dueMs: null, leaseHolders: [] } },
  endedByOperator: new Set(),
  rebuilt: new Set(),
  reported: new Set(),
  findLost: () => undefined,
});
