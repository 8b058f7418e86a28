export {
  listPermissions,
  mayOperator,
  type OperatorRole,
  operatorRoles,
  type Permission,
} from './permissions.ts';
export {
  endSession,
  findSession,
  idleEndOf,
  listSessions,
  openSession,
  type SignedIn,
} from './sessions.ts';
