import type { Words } from './in-one.ts';

/** Why a payment has failed, by the codes of the contract that operators and partners read in the same words. */
export const paymentErrors: Words = {
  gateway_declined: ['Declined by the bank or the recipient.', 'Отклонён банком или получателем.'],
  qr_expired: ['The QR code has expired.', 'Срок действия QR-кода истёк.'],
  qr_already_paid: ['The QR code has already been paid.', 'QR-код уже оплачен.'],
  recipient_unavailable: ['The recipient cannot receive payments.', 'Получатель не может принимать платежи.'],
  limit_exceeded: [
    'A limit of the bank or the recipient was exceeded.',
    'Превышен лимит банка или получателя.',
  ],
  suspected_fraud: ['The bank suspects fraud.', 'Банк подозревает мошенничество.'],
};
