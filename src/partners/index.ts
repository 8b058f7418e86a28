export { isAddressAllowed, isAddressRange } from './addresses.ts';
export { approveLive, refuseLive } from './approval.ts';
export { type Authenticator, createAuthenticator, type KeyHolder } from './authenticate.ts';
export { acceptInvitation, invite, pruneInvitations } from './invitations.ts';
export { type ApiKey, createKey, keyIdOf, listKeys, revokeKey, setAllowedAddresses } from './keys.ts';
export {
  changeRole,
  listMembers,
  listMemberships,
  type MemberRole,
  maxMembers,
  memberRoles,
  type Person,
  removeMember,
  roleIncludes,
  signUp,
} from './members.ts';
export {
  createPartner,
  findPartner,
  type Limits,
  limitsObject,
  listPartners,
  type Partner,
  refillTestBalance,
  setLimits,
  setSuspended,
} from './partners.ts';
export { createRateLimiter, type RateLimiter } from './rate-limit.ts';
export { countAwaitingApproval, findPartnersByName, searchPartners } from './search.ts';
