export { isAddressRange } from './addresses.ts';
export { authenticate } from './authenticate.ts';
export { type ApiKey, createKey, listKeys, revokeKey } from './keys.ts';
export {
  createPartner,
  findPartner,
  type Limits,
  listPartners,
  type Partner,
  setLimits,
  setSuspended,
} from './partners.ts';
