export { type Caller, type CreateDeps, type Creation, createPayment } from './create.ts';
export { failureMessages, type Payment, type PaymentStatus, paymentObject } from './payment.ts';
export { type RecoverDeps, recoverDuePayments, startRecovery } from './recover.ts';
export type { PaymentRequest } from './request.ts';
export { type PayableQr, type QrRefusalCode, resolveQr } from './resolve.ts';
export { createPaymentWriter, findPayment, listPayments } from './store.ts';
export { createWaiting } from './wait.ts';
