/**
 * The roles of the database: which rights those that run and those that read have, granting these, and finding others. People who
 * use the console are in `src/operators/`.
 */
export { describeDifferingRights, findRoles, grantRoles, type RoleNames, readOwnRights } from './roles.ts';
