export { type ArchiveResult, archiveMonths } from './archive/archive.ts';
export { type DistributeResult, distributeArchive } from './archive/distribute/distribute.ts';
export { restDays } from './archive/months.ts';
export { startNightlyArchive } from './archive/nightly.ts';
export { lastArchivedEvent, lastPrunedEvent } from './archive/pages.ts';
export { type ArchiveWatch, askArchiveWorkers, watchArchiveWorkers } from './archive/workers.ts';
export { keyOfPaymentByHand, personWhoPaid } from './by-hand.ts';
export { type CreateDeps, createPayment } from './create/create.ts';
export type { Caller } from './create/prepare.ts';
export { resolveQr } from './create/resolve-qr.ts';
export { pruneRefusals, scenarioOf, scenarios } from './create/scenarios.ts';
export { countDelayedPartners } from './delays.ts';
export { paymentGauges } from './gauges.ts';
export {
  findRecovering,
  incarnationObject,
  listIncarnations,
  listRecovered,
  type PastIncarnation,
  type RecoveringIncarnation,
} from './lost-history/incarnations.ts';
export { recoverRound, startHistoryRecovery } from './lost-history/recover-history.ts';
export {
  findStrayAmount,
  listStray,
  releaseStray,
  releaseStrayIn,
  type StrayOrder,
} from './lost-history/stray-orders.ts';
export { findOperationNumber } from './operation-numbers.ts';
export { createReferenceSealer } from './order-reference.ts';
export {
  formatInstant,
  type Payment,
  type PaymentRow,
  type PaymentStatus,
  paymentColumns,
  paymentObject,
  type Refunded,
  type ShownPayment,
  toPayment,
} from './payment.ts';
export { createPaymentParts } from './payment-parts.ts';
export { createPaymentMetrics } from './phases.ts';
export { lockQuote, type QuoteLocker } from './quotes/locker.ts';
export {
  findQuoteOf,
  type LockedQuote,
  listUsableQuotes,
  pruneQuotes,
  readExposure,
} from './quotes/quote.ts';
export { differenceObject, type Reconciliation } from './reconciliation/reconcile.ts';
export { type ReconcilerDeps, startReconciler } from './reconciliation/reconciler.ts';
export type { Difference, DifferenceKind } from './reconciliation/refund-differences.ts';
export { findRun, listRuns, pruneRuns, type Run, reconcileDay } from './reconciliation/runs.ts';
export { findNewestOrder, hasUnfinishedPayments } from './recovery/open-payments.ts';
export {
  decidePayment,
  decidePaymentIn,
  findPaymentAnywhere,
  listReview,
  type OperatorDecision,
  pollNow,
} from './recovery/operator-actions.ts';
export { type RecoverDeps, startRecovery } from './recovery/recover.ts';
export { addToTestClock, advancedSql, advanceOpenPayments, readTestClock } from './recovery/test-clock.ts';
export { type ReadRefunds, readRefunds, readRefundsOf, startRefundReader } from './refunds/read-refunds.ts';
export {
  findRefunded,
  findRefundedOf,
  listRefunds,
  mayBeRefunded,
  readRefundKopecks,
  refundedPayments,
} from './refunds/refunded.ts';
export { refundTestPayment } from './refunds/test-refund.ts';
export type { Creation } from './results.ts';
export { findByExternalId, listNewerPayments, listPayments } from './search/list.ts';
export { hasLeftArchive, type PaymentTerms, readPaymentTerms } from './search/payment-terms.ts';
export {
  type FoundPayment,
  type PaymentTotals,
  readFoundPayments,
  searchPayments,
  totalPayments,
} from './search/search.ts';
export type { PaymentFilter } from './search/search-statement.ts';
export { readSearchWords } from './search/search-words.ts';
export {
  countInReview,
  createThroughputReader,
  type PaymentDay,
  readPaymentDay,
} from './search/throughput.ts';
export { paymentTimeline, type TimelineEvent } from './search/timeline.ts';
export { createPaymentSignals, type PaymentSignals } from './signals.ts';
export { findPayment, findPaymentByKey, findPaymentOf, pruneKeyTurnovers } from './store.ts';
export { pruneTestData } from './test-data/prune.ts';
export { type PaymentTraces, pruneTraces } from './traces.ts';
