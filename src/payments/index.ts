export { type Caller, type CreateDeps, createPayment } from './create.ts';
export { type PaymentStatus, paymentObject } from './payment.ts';
export { recoverDuePayments, startRecovery } from './recover.ts';
export { resolveQr } from './resolve.ts';
export { createPaymentWriter, findPayment, listPayments } from './store.ts';
export { createWaiting } from './wait.ts';
