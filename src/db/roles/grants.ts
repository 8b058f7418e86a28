import { type Queryable, readRows } from '../postgres/index.ts';
import { notOfExtension } from '../schema/index.ts';
import { mayRunCall, readPrivileges, runPrivileges } from './privileges.ts';

/** The roles of PostgreSQL that run the service, and those that only read. */
export interface Roles {
  run: string[];
  read: string[];
}

type Kind = 'DATABASE' | 'SCHEMA' | 'TABLE' | 'SEQUENCE' | 'FUNCTION';

/** What rights are granted on. */
interface Target {
  kind: Kind;
  /** As statements name it. */
  name: string;
  /** Without its schema. */
  bare: string;
  isView: boolean;
  /**
   * Not a member of an extension; nor a partition, which is used through its table, except the default one, from which rows are deleted
   * by their address.
   */
  isUsed: boolean;
}

/** A right that a role has, or should have; `PUBLIC` is every role. */
export interface Grant {
  grantee: string;
  privilege: string;
  kind: Kind;
  name: string;
  /** Whether the role may pass it on. */
  isGrantable: boolean;
  /** In a schema that is not ours, such as a view of our tables there. */
  isElsewhere: boolean;
}

const isNoMember =
  "NOT EXISTS (SELECT FROM pg_depend m WHERE m.classid = 'pg_class'::regclass AND m.objid = c.oid AND m.deptype = 'e')";

const notOfSystem = "n.nspname !~ '^(pg_|information_schema$)'";

/**
 * SQL: all that has rights, with their list. Of functions those that run with the rights of their owner: anybody may call the others,
 * which can do nothing more than their caller.
 */
const targets = `
  SELECT 'DATABASE' AS kind, quote_ident(d.datname) AS name, d.datname AS bare, false AS "isElsewhere", false AS "isView", true AS "isUsed",
         d.datdba AS owner, coalesce(d.datacl, acldefault('d', d.datdba)) AS acl
    FROM pg_database d WHERE d.datname = current_database()
  UNION ALL
  SELECT 'SCHEMA', quote_ident(n.nspname), n.nspname, false, false, true, n.nspowner, n.nspacl
    FROM pg_namespace n WHERE n.nspname = 'public'
  UNION ALL
  SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, format('%I.%I', n.nspname, c.relname), c.relname,
         n.nspname <> 'public', c.relkind = 'v', n.nspname = 'public' AND (NOT c.relispartition OR c.oid IN (SELECT partdefid FROM pg_partitioned_table)) AND ${isNoMember}, c.relowner, c.relacl
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE ${notOfSystem} AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND ${notOfExtension('c', 'pg_class')}
  UNION ALL
  SELECT 'FUNCTION', format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)), p.proname, false, false, true, p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
   WHERE n.nspname = 'public' AND p.prosecdef AND ${notOfExtension('p', 'pg_proc')}`;

const listTargets = (db: Queryable) =>
  readRows<Target>(db, {
    text: `SELECT kind, name, bare, "isView", "isUsed" FROM (${targets}) AS t ORDER BY kind DESC, name`,
  });

/** Without those of the owner of the schema and of superusers, who need none. */
const listGrants = (db: Queryable) =>
  readRows<Grant>(db, {
    text: `SELECT coalesce(r.rolname, 'PUBLIC') AS grantee, privilege, kind, name, "isGrantable", "isElsewhere"
             FROM (SELECT t.owner, t.kind, t.name, a.grantee AS oid, a.privilege_type AS privilege, a.is_grantable AS "isGrantable",
                          t."isElsewhere"
                     FROM (${targets}) AS t, aclexplode(t.acl) a
                   UNION ALL
                   SELECT c.relowner, 'TABLE', format('%I.%I', n.nspname, c.relname), a.grantee,
                          format('%s (%I)', a.privilege_type, o.attname), a.is_grantable, n.nspname <> 'public'
                     FROM pg_attribute o JOIN pg_class c ON c.oid = o.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace,
                          aclexplode(o.attacl) a
                    WHERE ${notOfSystem} AND ${notOfExtension('c', 'pg_class')}) AS g
             LEFT JOIN pg_roles r ON r.oid = g.oid
            WHERE g.oid <> g.owner AND r.rolsuper IS NOT TRUE
              AND g.oid <> (SELECT relowner FROM pg_class WHERE oid = 'public.payments'::regclass)
            ORDER BY kind DESC, name, privilege, grantee`,
  });

/** What a role needs on this. */
function neededOn({ kind, bare, isView, isUsed }: Target, role: keyof Roles): string[] {
  if (!isUsed) return [];
  if (kind === 'SCHEMA') return ['USAGE'];
  if (kind === 'TABLE') {
    const ofTable = role === 'run' ? runPrivileges(bare) : readPrivileges(bare);
    return ofTable.filter(privilege => !isView || privilege === 'SELECT');
  }
  if (role === 'read') return [];
  if (kind === 'SEQUENCE') return ['USAGE', 'SELECT', 'UPDATE'];
  return kind === 'FUNCTION' && mayRunCall(bare) ? ['EXECUTE'] : [];
}

/** Every role may connect, and sees the names in the first schema. These are PostgreSQL's own defaults, which change nothing. */
const isHarmless = ({ grantee, privilege, kind, name }: Grant) =>
  (kind === 'DATABASE' && privilege === 'CONNECT') ||
  (kind === 'SCHEMA' && name === 'public' && privilege === 'USAGE' && grantee === 'PUBLIC');

const neededFor = (allTargets: Target[], grantee: string, role: keyof Roles): Grant[] =>
  allTargets.flatMap(target =>
    neededOn(target, role).map(privilege => ({
      ...{ grantee, privilege, kind: target.kind, name: target.name, isGrantable: false, isElsewhere: false },
    })),
  );

const keyOf = ({ grantee, privilege, kind, name, isGrantable }: Grant) =>
  JSON.stringify([grantee, privilege, kind, name, isGrantable]);

/** How the rights in the database differ from those that the roles need, which are all that there should be. */
export async function compareGrants(
  db: Queryable,
  roles: Roles,
): Promise<{ missing: Grant[]; additional: Grant[] }> {
  const [all, actual] = [await listTargets(db), await listGrants(db)];
  const needed = (['run', 'read'] as const).flatMap(role =>
    roles[role].flatMap(grantee => neededFor(all, grantee, role)),
  );
  const neededKeys = new Set(needed.map(keyOf));
  // Who may pass a right on has the right as well.
  const actualKeys = new Set(actual.map(grant => keyOf({ ...grant, isGrantable: false })));
  // What other roles have on what is not ours is not our concern.
  const ours = new Set(['PUBLIC', ...roles.run, ...roles.read]);
  return {
    missing: needed.filter(grant => !actualKeys.has(keyOf(grant))),
    additional: actual.filter(
      grant =>
        !neededKeys.has(keyOf(grant)) &&
        !isHarmless(grant) &&
        (!grant.isElsewhere || ours.has(grant.grantee)),
    ),
  };
}

/** What the role of this session cannot do of what the service needs, also not through a role that it is a member of. */
export async function listLacking(db: Queryable): Promise<Grant[]> {
  const needed = neededFor(await listTargets(db), 'own', 'run');
  const rows = await readRows<{ nth: number }>(db, {
    text: `SELECT nth::int FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS n (kind, name, privilege, nth)
            WHERE NOT CASE kind WHEN 'TABLE' THEN has_table_privilege(name, privilege)
                                WHEN 'SEQUENCE' THEN has_sequence_privilege(name, privilege)
                                WHEN 'SCHEMA' THEN has_schema_privilege(name, privilege)
                                ELSE has_function_privilege(name, privilege) END
            ORDER BY nth`,
    values: [
      needed.map(({ kind }) => kind),
      needed.map(({ name }) => name),
      needed.map(one => one.privilege),
    ],
  });
  return rows.map(({ nth }) => needed[nth - 1]!);
}

export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** All rights of a role on the same object at once; taken away with what the role has passed on. */
export function statementsFor(verb: 'GRANT' | 'REVOKE', grants: Grant[]): string[] {
  const groups = Map.groupBy(grants, ({ grantee, kind, name }) => JSON.stringify([grantee, kind, name]));
  return [...groups.values()].map(group => {
    const { grantee, kind, name } = group[0]!;
    const what = `${verb} ${group.map(({ privilege }) => privilege).join(', ')} ON ${kind} ${name}`;
    const role = grantee === 'PUBLIC' ? grantee : quoted(grantee);
    return verb === 'GRANT' ? `${what} TO ${role}` : `${what} FROM ${role} CASCADE`;
  });
}

/** Such as `INSERT on payments`. */
export function describeGrant({ privilege, name, isGrantable }: Grant): string {
  const [withoutArguments = ''] = name.split('(');
  const shown = withoutArguments.startsWith('public.')
    ? withoutArguments.slice('public.'.length)
    : withoutArguments;
  return `${privilege} on ${shown}${isGrantable ? ' with grant option' : ''}`;
}
