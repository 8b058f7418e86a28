export { type Balances, openAccounts, readBalances } from './accounts.ts';
export { accountNames, listAccounts, listEntries, readTrialBalance } from './accounts-and-entries.ts';
export { credit, findCredited, listCredits, type PastCredit, topUp, topUpIn } from './credits.ts';
export { ledgerGauges } from './gauges.ts';
export { availableBefore } from './past-balances.ts';
export type { AccountKey, Mode } from './post.ts';
export { digestOf, openStatement, writeStatement } from './statement.ts';
export { verifyLedger, verifyShared } from './verify.ts';
