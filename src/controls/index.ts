export { isUnderMaintenance, planMaintenance, setMaintenance } from './maintenance.ts';
export { blockRecipient, isRecipientBlocked, listBlockedRecipients, unblockRecipient } from './recipients.ts';
