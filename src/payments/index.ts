export { type Caller, type CreateDeps, createPayment } from './create.ts';
export { createHandOver } from './hand-over.ts';
export { findByExternalId, listNewerPayments, listPayments } from './list.ts';
export { findNewestOrder, hasUnfinishedPayments } from './newest-order.ts';
export {
  askAgain,
  findAnywhere,
  type OperatorsWord,
  resolvePayment,
  resolvePaymentIn,
} from './operate.ts';
export { countInReview, createPaceReader } from './pace.ts';
export type { Creation } from './pay.ts';
export {
  formatInstant,
  type Payment,
  type PaymentRow,
  type PaymentStatus,
  paymentObject,
  toPayment,
} from './payment.ts';
export { type Difference, type DifferenceKind, differenceObject, reconcile } from './reconcile.ts';
export { type ReconcilerDeps, reconcileRecent, startReconciler } from './reconciler.ts';
export { type RecoverDeps, recoverDuePayments, startRecovery } from './recover.ts';
export { resolveQr } from './resolve.ts';
export { listReview } from './review.ts';
export { findRun, listRuns, type Run, reconcileDay } from './runs.ts';
export { pruneRefusals, scenarioOf, scenarios } from './scenarios.ts';
export { type FoundPayment, type PaymentFilter, searchPayments } from './search.ts';
export { readSearchWords } from './search-words.ts';
export { createPaymentWriter, findPayment, type Owner } from './store.ts';
export { addToTestClock, advanceOpenPayments, readTestClock, sooner } from './test-clock.ts';
export { type Happening, tellPayment } from './timeline.ts';
export { countUnfinished } from './unfinished.ts';
export { createWaiting } from './wait.ts';
