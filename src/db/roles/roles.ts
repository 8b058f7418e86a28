import { OperatorError } from '../../base/operator-error.ts';
import { findRow, type Pool, type Queryable, readRow, readRows, transaction } from '../postgres/index.ts';
import { compareGrants, describeGrant, listLacking, quoted, type Roles, statementsFor } from './grants.ts';

/**
 * Three roles of PostgreSQL share the database. The owner of the schema migrates and archives. The role of the service
 * reads and writes what it needs, and cannot change or remove what is append-only: the triggers would refuse that, and only
 * the owner of a table can disable a trigger. The third role only reads. What the service needs beyond its rights are
 * functions with the rights of the owner: `audit_chain_extend`, `log_partition_add`, `log_partition_drop`, `prune_test_data`.
 */
export interface RoleNames {
  run?: string | undefined;
  read?: string | undefined;
}

/**
 * Grants the roles what they need and nothing else. Repeated after each migration, since new tables have no grants. From all roles it
 * takes the right to make temporary tables, or anything in our schemas: what has the name of an object of ours could be taken for it.
 */
export const grantRoles = (pool: Pool, { run, read }: RoleNames): Promise<void> =>
  transaction(pool, async tx => {
    const roles = { run: run === undefined ? [] : [run], read: read === undefined ? [] : [read] };
    const ours = [...roles.run, ...roles.read];
    for (const role of ours) await refuseUnfit(tx, role);
    const { additional } = await compareGrants(tx, roles);
    const taken = additional.filter(
      ({ grantee, isElsewhere }) => !isElsewhere && (grantee === 'PUBLIC' || ours.includes(grantee)),
    );
    // One at a time: Citus passes no message with several on to its nodes.
    for (const text of statementsFor('REVOKE', taken)) await tx.query({ text });
    const { missing } = await compareGrants(tx, roles);
    for (const text of statementsFor('GRANT', missing)) await tx.query({ text });
  });

/** A role that has the rights of the owner anyway would only seem to be limited. */
async function refuseUnfit(tx: Queryable, role: string): Promise<void> {
  const found = await findRow<{ isSuper: boolean; isOwner: boolean }>(tx, {
    text: `SELECT r.rolsuper AS "isSuper", pg_has_role(r.oid, c.relowner, 'MEMBER') AS "isOwner"
             FROM pg_roles r, pg_class c WHERE r.rolname = $1 AND c.oid = 'public.payments'::regclass`,
    values: [role],
  });
  if (!found)
    throw new OperatorError(
      `There is no role ${role}: create it first, with CREATE ROLE ${quoted(role)} LOGIN.`,
    );
  if (found.isSuper || found.isOwner)
    throw new OperatorError(
      `The role ${role} ${found.isSuper ? 'is a superuser' : 'has the rights of the owner of the schema'}: use another one, which has no rights yet.`,
    );
}

/** The roles that have got their grants: the one that may write runs the service. */
export async function findRoles(db: Queryable): Promise<Roles> {
  const rows = await readRows<{ name: string; writes: boolean }>(db, {
    text: `SELECT r.rolname AS name, has_table_privilege(r.oid, 'public.payments', 'INSERT') AS writes
             FROM pg_class c, aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee
            WHERE c.oid = 'public.schema_migrations'::regclass AND a.grantee <> c.relowner AND a.privilege_type = 'SELECT'
            ORDER BY 1`,
  });
  const namesOf = (writes: boolean) => rows.filter(row => row.writes === writes).map(({ name }) => name);
  return { run: namesOf(true), read: namesOf(false) };
}

export interface OwnRights {
  user: string;
  isSuper: boolean;
  isOwner: boolean;
  /** Such as `INSERT on payments`. */
  missing: string[];
}

/** What the role of this session may do. */
export async function readOwnRights(db: Queryable): Promise<OwnRights> {
  const own = await readRow<Omit<OwnRights, 'missing'>>(db, {
    text: `SELECT current_user AS user, r.rolsuper AS "isSuper", pg_has_role(c.relowner, 'MEMBER') AS "isOwner"
             FROM pg_roles r, pg_class c WHERE r.rolname = current_user AND c.oid = 'public.payments'::regclass`,
  });
  return { ...own, missing: (await listLacking(db)).map(describeGrant) };
}

/** What differs from the rights that `grantRoles` gives, in words. Nothing if no role but the owner has got any. */
export async function describeDifferingRights(db: Queryable): Promise<string[]> {
  const roles = await findRoles(db);
  if (roles.run.length + roles.read.length === 0) return [];
  const { missing, additional } = await compareGrants(db, roles);
  return [
    ...missing.map(grant => `${grant.grantee} lacks ${describeGrant(grant)}`),
    ...additional.map(grant => `${grant.grantee} has ${describeGrant(grant)}`),
    ...(await listPowers(db, [...roles.run, ...roles.read])),
  ];
}

/** What gives a role rights beside its grants: attributes, memberships, and objects of its own. It may be a member of pg_monitor. */
async function listPowers(db: Queryable, names: string[]): Promise<string[]> {
  const rows = await readRows<{ what: string }>(db, {
    text: `SELECT format('%s has the attribute %s', r.rolname, a.name) AS what
             FROM pg_roles r, LATERAL (VALUES ('SUPERUSER', r.rolsuper), ('CREATEROLE', r.rolcreaterole),
               ('REPLICATION', r.rolreplication), ('BYPASSRLS', r.rolbypassrls)) AS a (name, isset)
            WHERE r.rolname = ANY ($1) AND a.isset
           UNION ALL
           SELECT format('%s is a member of %s', r.rolname, g.rolname)
             FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member JOIN pg_roles g ON g.oid = m.roleid
            WHERE r.rolname = ANY ($1) AND g.rolname <> 'pg_monitor'
           UNION ALL
           SELECT format('%s owns %s', r.rolname, pg_describe_object(d.classid, d.objid, d.objsubid))
             FROM pg_shdepend d JOIN pg_roles r ON r.oid = d.refobjid AND d.refclassid = 'pg_authid'::regclass
            WHERE r.rolname = ANY ($1) AND d.deptype = 'o'
              AND d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
            ORDER BY 1`,
    values: [names],
  });
  return rows.map(({ what }) => what);
}
