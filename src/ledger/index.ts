export { type Balances, openAccounts, readBalances } from './accounts.ts';
export { accountNames, listAccounts, listEntries, readTrialBalance } from './accounts-and-entries.ts';
export { credit, findCredited, listCredits, type PastCredit } from './credits.ts';
export { ledgerGauges } from './gauges.ts';
export { availableBefore } from './past-balances.ts';
export type { AccountKey, Mode } from './post.ts';
export { digestOf, openStatement, writeStatement } from './statement.ts';
export { topUp, topUpIn } from './top-up.ts';
export { verifyLedger, verifyShared } from './verify.ts';
