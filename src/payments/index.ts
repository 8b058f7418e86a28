export { type Caller, type CreateDeps, type Creation, createPayment } from './create.ts';
export { findAnywhere, resolvePayment } from './operate.ts';
export { type PaymentStatus, paymentObject } from './payment.ts';
export { recoverDuePayments, startRecovery } from './recover.ts';
export { resolveQr } from './resolve.ts';
export { createPaymentWriter, findPayment, listPayments } from './store.ts';
export { countUnfinished } from './unfinished.ts';
export { createWaiting } from './wait.ts';
