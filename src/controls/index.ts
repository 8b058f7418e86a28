export {
  cancelMaintenance,
  isUnderMaintenance,
  listMaintenance,
  planMaintenance,
  pruneMaintenance,
  setMaintenance,
} from './maintenance.ts';
export { blockRecipient, isRecipientBlocked, listBlockedRecipients, unblockRecipient } from './recipients.ts';
