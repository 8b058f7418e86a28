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
export { blockRecipient, isRecipientBlocked, listBlockedRecipients, unblockRecipient } from './recipients.ts';
