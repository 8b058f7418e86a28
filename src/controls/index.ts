export { isUnderMaintenance, setMaintenance } from './maintenance.ts';
export { blockRecipient, isRecipientBlocked, listBlockedRecipients, unblockRecipient } from './recipients.ts';
