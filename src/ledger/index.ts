export { type Balances, ledgerGauges, openAccounts, readBalances } from './accounts.ts';
export {
  accountNames,
  availableBefore,
  type Entry,
  listAccounts,
  listEntries,
  type OpenHold,
  readTrialBalance,
} from './accounts-and-entries.ts';
export { credit, findCredited, listCredits, type PastCredit, topUp, topUpIn } from './credits.ts';
export { type BookedEntry, type LedgerPeriod, openHoldsOf, openPeriod, readPeriod } from './period.ts';
export type { AccountKey, Mode } from './post.ts';
export { digestOf, openStatement, writeStatement } from './statement.ts';
export { verifyLedger, verifyShared } from './verify.ts';
