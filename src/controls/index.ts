export {
  cancelMaintenance,
  isUnderMaintenance,
  listMaintenance,
  planMaintenance,
  setMaintenance,
} from './maintenance.ts';
export { blockRecipient, isRecipientBlocked, listBlockedRecipients, unblockRecipient } from './recipients.ts';
