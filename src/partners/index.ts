export { isAddressAllowed, isAddressRange } from './addresses.ts';
export {
  type Authenticator,
  createAuthenticator,
  type KeyHolder,
  type LimitedRights,
} from './authenticate.ts';
export { bodyLogDurations, findBodyLog, setBodyLog } from './body-log.ts';
export { byHandObject, rightsByHand, setByHandLimits } from './by-hand.ts';
export { isContactsText, maxContactsLength, readContacts, setContacts } from './contacts.ts';
export { readFirstSteps } from './first-steps.ts';
export { acceptInvitation, invite, pruneInvitations } from './invitations.ts';
export { pruneKeyAddresses } from './key-addresses.ts';
export { noticeExpiries } from './key-expiries.ts';
export { maxActiveKeys, maxRolledKeys } from './key-maximum.ts';
export { allRights, type KeyRights, type Scope, scopes } from './key-rights.ts';
export {
  type ApiKey,
  createKey,
  type KeyCreation,
  keyIdOf,
  keyObject,
  keyState,
  listKeys,
  revokeKey,
  setAllowedAddresses,
  type WantedKey,
} from './keys.ts';
export {
  hasRight,
  type MemberRight,
  type MemberRole,
  memberRoles,
  rightsOfRole,
  rolesWith,
} from './member-rights.ts';
export {
  auditContextOfPerson,
  changeRole,
  listMembers,
  listMemberships,
  maxMembers,
  type Person,
  removeMember,
  signUp,
} from './members.ts';
export {
  approveLive,
  createPartner,
  findPartner,
  type Limits,
  limitsObject,
  listPartners,
  lockPartner,
  type Partner,
  refillTestBalance,
  refuseLive,
  setLimits,
  setSuspended,
} from './partners.ts';
export {
  endPortalSession,
  findPortalSession,
  listPortalSessions,
  type PortalSession,
  prunePortalSessions,
  rememberedDays,
} from './portal/sessions.ts';
export {
  createPortalLink,
  type PortalSignInResult,
  prunePortalLinks,
  type SignedData,
  signInWithData,
  signInWithLink,
} from './portal/sign-in.ts';
export { createRateLimiter, type RateLimiter } from './rate-limit.ts';
export { maxOverlapMs, rollKey, undoRoll } from './roll-key.ts';
export { countAwaitingApproval, findPartnersByName, searchPartners } from './search.ts';
export { setTimeZone } from './time-zone.ts';
