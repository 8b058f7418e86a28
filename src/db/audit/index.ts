/**
 * What people changed: its records, how many one may make on a day, and the chain of hashes that shows changed records. Whether a
 * change is allowed is decided by its callers.
 */
export { type AuditContext, changesOf, type PastChange, recordChange, TooManyChangesError } from './audit.ts';
export {
  type ChainFault,
  type ChainHead,
  exportChain,
  extendChain,
  formatHead,
  readHead,
  startAuditChain,
  verifyChain,
} from './audit-chain.ts';
export { type AuditHeads, compareHeads, createHeadKeeper, openAuditHeads } from './audit-heads.ts';
export { type AuditFilter, type AuditLine, listAudit, readAudit } from './audit-log.ts';
export { pruneDailyChanges, takeDailyChange } from './daily-changes.ts';
