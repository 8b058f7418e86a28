export { enrol, findEnrolment } from './enrol.ts';
export { findRelated } from './enrolment-chain.ts';
export { networkOf } from './known-clients.ts';
export { setupUrl } from './link.ts';
export {
  type Changed,
  createFirstAdmin,
  createOperator,
  disableOperator,
  enableOperator,
  findOperator,
  listOperators,
  type Operator,
  operatorObject,
  readOperatorName,
  resetOperator,
  setOperatorRole,
  signOutOperator,
} from './operators.ts';
export {
  hasPermissionNow,
  listPermissions,
  type OperatorRole,
  operatorRoles,
  type Permission,
  roleHasPermission,
} from './permissions.ts';
export { endSession, findSession, listSessions, type SignedIn } from './sessions.ts';
export { signIn } from './sign-in.ts';
export { addressFullForSec } from './throttle.ts';
export { toBase32, totpUrl } from './totp.ts';
