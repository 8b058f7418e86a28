export {
  listPermissions,
  mayOperator,
  type OperatorRole,
  operatorRoles,
  type Permission,
} from './permissions.ts';
