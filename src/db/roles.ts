import { OperatorError } from '../base/operator-error.ts';
import { type Pool, type Queryable, transaction } from './pool.ts';
import { copiesOf, listShards, schemaOf, schemasOf } from './shards/layout.ts';

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

type Privilege = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';

/** Rows are added and never changed. */
const appendOnly = [
  'audit',
  'deposit_addresses',
  'entries',
  'event_gaps',
  'events',
  'rate_rules',
  'rates',
  'refunds',
  'void_openings',
];
/** Written by the owner, or by a function with its rights. */
const ownersOnly = [
  'archive_sums',
  'archived_keys',
  'archived_months',
  'archived_references',
  'audit_chain',
  'audit_unchained',
  'entries_archive',
  'events_archive',
  'payments_archive',
  'schema_functions',
  'schema_migrations',
  'shards',
  'test_checkpoints',
];
/** Rows change and stay. */
const kept = [
  'accounts',
  'api_keys',
  'deposit_chains',
  'deposits',
  'entry_gaps',
  'incarnations',
  'operators',
  'partners',
  'payments',
  'recovered_payments',
  'service',
  'signing_keys',
  'stray_orders',
];
/** Hashes, sealed secrets and who signs in: not for reports. */
const secret = [
  'api_keys',
  'further_webhooks',
  'invitations',
  'key_addresses',
  'known_clients',
  'login_attempts',
  'operator_sessions',
  'operators',
  'portal_links',
  'portal_sessions',
  'secret_keys',
  'signing_keys',
  'webhooks',
];

export function runPrivileges(table: string): Privilege[] {
  if (ownersOnly.includes(table)) return ['SELECT'];
  if (appendOnly.includes(table)) return ['SELECT', 'INSERT'];
  return kept.includes(table) ? ['SELECT', 'INSERT', 'UPDATE'] : ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];
}

const readPrivileges = (table: string): Privilege[] => (secret.includes(table) ? [] : ['SELECT']);

interface Relation {
  schema: string;
  name: string;
  isView: boolean;
}

/** With those of the copies that shards on Citus have. */
async function listSchemas(db: Queryable): Promise<string[]> {
  const shards = await listShards(db);
  const { rows } = await db.query<{ name: string }>({
    text: 'SELECT nspname AS name FROM pg_namespace WHERE nspname = ANY ($1) ORDER BY 1',
    values: [shards.map(shard => copiesOf(schemaOf(shard)))],
  });
  return [...schemasOf(shards), ...rows.map(({ name }) => name)];
}

/** Partitions are used through their table, except the default one, from which rows are deleted by their address. */
async function listRelations(db: Queryable): Promise<Relation[]> {
  const { rows } = await db.query<Relation>({
    text: `SELECT n.nspname AS schema, c.relname AS name, c.relkind = 'v' AS "isView"
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p', 'v')
              AND (NOT c.relispartition OR c.oid IN (SELECT partdefid FROM pg_partitioned_table)) ORDER BY 1, 2`,
    values: [await listSchemas(db)],
  });
  return rows;
}

/** A view has the rights of the table whose name it has: over all shards there is one for each table. */
const privilegesOn = ({ name, isView }: Relation, ofTable: (table: string) => Privilege[]) =>
  ofTable(name).filter(privilege => !isView || privilege === 'SELECT');

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const quotedIn = ({ schema, name }: Relation) => `${quoted(schema)}.${quoted(name)}`;

/** Grants the roles what they need and nothing else. Repeated after each migration, since new tables have no grants. */
export const grantRoles = (pool: Pool, names: RoleNames): Promise<void> =>
  transaction(pool, tx => grantRolesIn(tx, names));

/** The same, as part of the caller's transaction. */
export async function grantRolesIn(tx: Queryable, names: RoleNames): Promise<void> {
  for (const role of [names.run, names.read]) if (role !== undefined) await refuseUnfit(tx, role);
  const schemas = await listSchemas(tx);
  const relations = await listRelations(tx);
  // Who may create functions in the schema could lead those with the rights of the owner to their own.
  const statements = schemas.map(schema => `REVOKE CREATE ON SCHEMA ${schema} FROM PUBLIC`);
  const grant = (role: string, ofTable: (table: string) => Privilege[]) => {
    for (const schema of schemas)
      statements.push(
        `REVOKE ALL ON ALL TABLES IN SCHEMA ${schema} FROM ${role}`,
        `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
      );
    for (const relation of relations) {
      const privileges = privilegesOn(relation, ofTable);
      if (privileges.length > 0)
        statements.push(`GRANT ${privileges.join(', ')} ON ${quotedIn(relation)} TO ${role}`);
    }
  };
  if (names.run !== undefined) {
    grant(quoted(names.run), runPrivileges);
    for (const schema of schemas)
      statements.push(
        `GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${quoted(names.run)}`,
        `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${quoted(names.run)}`,
      );
  }
  if (names.read !== undefined) grant(quoted(names.read), readPrivileges);
  // One at a time: Citus passes no message with several on to its nodes.
  for (const text of statements) await tx.query({ text });
}

/** A role that has the rights of the owner anyway would only seem to be limited. */
async function refuseUnfit(tx: Queryable, role: string): Promise<void> {
  const { rows } = await tx.query<{ isSuper: boolean; isOwner: boolean }>({
    text: `SELECT r.rolsuper AS "isSuper", pg_has_role(r.oid, c.relowner, 'MEMBER') AS "isOwner"
             FROM pg_roles r, pg_class c WHERE r.rolname = $1 AND c.oid = 'public.payments'::regclass`,
    values: [role],
  });
  const found = rows[0];
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
export async function findRoles(db: Queryable): Promise<{ run: string[]; read: string[] }> {
  const { rows } = await db.query<{ name: string; writes: boolean }>({
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
  const { rows } = await db.query<Omit<OwnRights, 'missing'>>({
    text: `SELECT current_user AS user, r.rolsuper AS "isSuper", pg_has_role(c.relowner, 'MEMBER') AS "isOwner"
             FROM pg_roles r, pg_class c WHERE r.rolname = current_user AND c.oid = 'public.payments'::regclass`,
  });
  const needed = (await listRelations(db)).flatMap(relation =>
    privilegesOn(relation, runPrivileges).map(privilege => ({ relation, privilege })),
  );
  const { rows: missing } = await db.query<{ what: string }>({
    text: `SELECT privilege || ' on ' || shown AS what
             FROM unnest($1::text[], $2::text[], $3::text[]) AS n (name, shown, privilege)
            WHERE NOT has_table_privilege(name, privilege)
           UNION ALL
           SELECT 'EXECUTE on ' || p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE n.nspname = ANY ($4) AND p.prosecdef AND NOT has_function_privilege(p.oid, 'EXECUTE')`,
    values: [
      needed.map(({ relation }) => quotedIn(relation)),
      needed.map(({ relation }) => shownName(relation)),
      needed.map(({ privilege }) => privilege),
      await listSchemas(db),
    ],
  });
  return { ...rows[0]!, missing: missing.map(({ what }) => what) };
}

const shownName = ({ schema, name }: Relation) => (schema === 'public' ? name : `${schema}.${name}`);
