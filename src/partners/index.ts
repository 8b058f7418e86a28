export { isAddressRange } from './addresses.ts';
export { type Authenticator, createAuthenticator } from './authenticate.ts';
export { type ApiKey, createKey, keyIdOf, listKeys, revokeKey } from './keys.ts';
export {
  createPartner,
  findPartner,
  type Limits,
  listPartners,
  type Partner,
  setLimits,
  setSuspended,
} from './partners.ts';
export { createRateLimiter, type RateLimiter } from './rate-limit.ts';
