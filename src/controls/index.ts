export {
  cancelMaintenance,
  isUnderMaintenance,
  listMaintenance,
  type PaymentStops,
  planMaintenance,
  pruneMaintenance,
  readPaymentStops,
  setMaintenance,
} from './maintenance.ts';
export {
  blockRecipient,
  foldRecipient,
  isRecipientBlocked,
  listBlockedRecipients,
  unblockRecipient,
} from './recipients.ts';
