export { isUnderMaintenance, setMaintenance } from './maintenance.ts';
export { blockRecipient, listBlockedRecipients, unblockRecipient } from './recipients.ts';
