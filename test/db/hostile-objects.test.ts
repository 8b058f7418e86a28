import { randomBytes } from 'node:crypto';
import type { PoolClient } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { grantRoles } from '../../src/db/roles/roles.ts';
import { createDatabase } from '../helpers/database.ts';
import { words } from '../helpers/words.ts';
import { createPast } from '../payments/archive-world.ts';

/**
 * Objects with the names that the functions of the service use, made by a role that may not do more than run it. Each of them counts
 * when it is reached with the rights of somebody else. They are in a schema of that role and in `pg_temp`, and come first in the
 * search path of the session.
 */
const schema = 'hostile';

/** As the owner: what `kopeck migrate` takes away from the role is granted, since the functions must hold without that. */
async function admitHostile(db: Queryable, role: string): Promise<void> {
  const { rows } = await db.query<{ name: string }>({ text: 'SELECT current_database() AS name' });
  for (const text of [
    `GRANT TEMPORARY, CREATE ON DATABASE ${rows[0]!.name} TO ${role}`,
    `CREATE SCHEMA ${schema} AUTHORIZATION ${role}`,
    `CREATE SEQUENCE ${schema}.reached`,
    `GRANT ALL ON SEQUENCE ${schema}.reached TO PUBLIC`,
    `GRANT USAGE ON SCHEMA ${schema} TO PUBLIC`,
    // A sequence counts what is rolled back as well.
    `CREATE FUNCTION ${schema}.trap() RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog AS $$
     BEGIN
       IF current_user <> '${role}' THEN PERFORM nextval('${schema}.reached'); END IF;
       RETURN true;
     END $$`,
    `CREATE FUNCTION ${schema}.trap_row() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
     BEGIN PERFORM ${schema}.trap(); RETURN NULL; END $$`,
  ])
    await db.query({ text });
}

/** How often an object of the role was reached with the rights of another. */
async function timesReached(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ times: number }>({
    text: `SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int AS times FROM ${schema}.reached`,
  });
  return rows[0]!.times;
}

/** Makes the objects that a statement per row describes. What cannot be made so is left out. */
async function makeEach(db: Queryable, text: string): Promise<number> {
  const { rows } = await db.query<{ statement: string }>({ text });
  let made = 0;
  for (const { statement } of rows)
    made += await db.query({ text: statement }).then(
      () => 1,
      () => 0,
    );
  return made;
}

const relations = `SELECT DISTINCT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p', 'v')`;

/** Writing to one is seen by a trigger, reading one by the condition of a view. */
const ofRelations = {
  tables: `SELECT format('CREATE TEMP TABLE %1$I (LIKE public.%1$I); GRANT ALL ON %1$I TO PUBLIC;
      CREATE TRIGGER trap BEFORE INSERT OR UPDATE OR DELETE ON %1$I EXECUTE FUNCTION ${schema}.trap_row()', relname) AS statement
    FROM (${relations}) AS r`,
  views: `SELECT format('CREATE TEMP VIEW %1$I AS SELECT * FROM public.%1$I WHERE ${schema}.trap();
      GRANT ALL ON %1$I TO PUBLIC', relname) AS statement FROM (${relations}) AS r`,
};

/** A partitioned table like a log, whose partition has the name of a table that must stay. */
const log = [
  'CREATE TEMP TABLE hostile_log (at timestamptz) PARTITION BY RANGE (at)',
  'CREATE TEMP TABLE hostile_log_default PARTITION OF hostile_log DEFAULT',
  "CREATE TEMP TABLE audit_chain PARTITION OF hostile_log FOR VALUES FROM ('2020-01-06Z') TO ('2020-01-13Z')",
  `CREATE TRIGGER trap BEFORE DELETE ON hostile_log_default EXECUTE FUNCTION ${schema}.trap_row()`,
  'GRANT ALL ON hostile_log, hostile_log_default, audit_chain TO PUBLIC',
];

/** Our own functions, and those of the system that ours use. */
const functions = `
  WITH used AS (
    SELECT DISTINCT (regexp_matches(p.prosrc, '([a-z_0-9]+)\\(', 'g'))[1] AS name
      FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace)
  SELECT format('CREATE FUNCTION ${schema}.%I(%s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN PERFORM ${schema}.trap(); RETURN%s; END $f$',
                p.proname, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid),
                CASE WHEN p.proretset OR p.prorettype = 'void'::regtype THEN '' ELSE ' NULL' END) AS statement
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
   WHERE p.prokind = 'f' AND (n.nspname = 'public' OR n.nspname = 'pg_catalog' AND p.proname IN (SELECT name FROM used))`;

const operators = `
  SELECT format('CREATE FUNCTION ${schema}.operator_%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN PERFORM ${schema}.trap(); RETURN NULL; END $f$;
      CREATE OPERATOR ${schema}.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = ${schema}.operator_%s)',
      o.oid, l, r, format_type(o.oprresult, NULL), o.oprname, l, r, o.oid) AS statement
    FROM pg_operator o, format_type(o.oprleft, NULL) l, format_type(o.oprright, NULL) r
   WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprname IN ('=', '<>', '<', '<=', '>', '>=', '||', '+', '-')
     AND ARRAY[o.oprleft, o.oprright] <@ '{uuid,text,name,oid,timestamptz,interval,bigint,integer,boolean,bytea,numeric,date}'::regtype[]::oid[]`;

const types = `
  SELECT format('CREATE DOMAIN pg_temp.%I AS text CHECK (${schema}.trap())', t.typname) AS statement
    FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
   WHERE t.typnamespace = 'public'::regnamespace AND (t.typtype = 'e' OR c.relkind = 'c')`;

/** In a session of the role: its functions and operators, which stay. Returns how many of each there are. */
const makeFunctions = async (session: Queryable) => ({
  functions: await makeEach(session, functions),
  operators: await makeEach(session, operators),
});

/** The same for types and relations, which last as long as the session. From then on all of them are found first. */
async function makeTemporary(session: Queryable, form: keyof typeof ofRelations | 'log') {
  const made = {
    types: await makeEach(session, types),
    relations: form === 'log' ? log.length : await makeEach(session, ofRelations[form]),
  };
  if (form === 'log') for (const text of log) await session.query({ text });
  await session.query({ text: `SET search_path = ${schema}, pg_temp, pg_catalog, public` });
  return made;
}

interface OwnersFunction {
  /** With its schema. */
  name: string;
  /** The types of its arguments. */
  types: string[];
  isTrigger: boolean;
}

/** Every function of the database that has the rights of its owner. */
async function ownersFunctions(db: Queryable): Promise<OwnersFunction[]> {
  const { rows } = await db.query<OwnersFunction>({
    text: `SELECT format('%I.%I', n.nspname, p.proname) AS name, p.prorettype = 'trigger'::regtype AS "isTrigger",
                  ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS a (t, nth) ORDER BY nth) AS types
             FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE p.prosecdef ORDER BY 1`,
  });
  return rows;
}

/** Statements that call the function with every combination of names, and otherwise with values of which there is something to do. */
function callsOf({ name, types: argumentTypes, isTrigger }: OwnersFunction, partner: string): string[] {
  if (isTrigger)
    return [
      `CREATE TEMP TABLE hostile_row (id bigint); CREATE TRIGGER call AFTER INSERT ON hostile_row FOR EACH ROW EXECUTE FUNCTION ${name}();
       INSERT INTO hostile_row VALUES (1)`,
    ];
  const names = words('hostile_log audit_chain gateway_calls gateway_calls_20260302 public.audit_chain');
  const times = ["'2026-03-02Z'", "'2026-03-09Z'"];
  const values: Record<string, string[]> = {
    text: names.map(value => `'${value}'`),
    uuid: [`'${partner}'`],
    integer: ['100'],
    bigint: ['100'],
    mode: ["'test'"],
    // The first has its partitions, and payments.
    date: ["'2026-01-01'", "'2026-02-01'"],
  };
  let combinations: string[][] = [[]];
  for (const type of argumentTypes) {
    const here = type.startsWith('timestamp') ? [times.shift() ?? 'now()'] : (values[type] ?? ['NULL']);
    // The role has made a type with the name of ours.
    const typeName = type === 'mode' ? 'public.mode' : type;
    combinations = combinations.flatMap(start => here.map(value => [...start, `${value}::${typeName}`]));
  }
  return combinations.map(combination => `SELECT ${name}(${combination.join(', ')})`);
}

const { pool } = await createDatabase();
const run = `hostile_${randomBytes(4).toString('hex')}`;
let partner: string;

/** Tables that a function with the rights of the owner could drop, or make. Partitions come and go. */
const tables = `
  SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p', 'v') AND c.relname !~ '_(\\d{8}|\\d{4}_\\d{2})$' ORDER BY 1`;
const listTables = async () => (await pool.query(tables)).rows;

beforeAll(async () => {
  const past = await createPast(pool);
  const partnerId = await past.newPartner();
  partner = uuidFromId(partnerId);
  for (let nth = 0; nth < 3; nth++) await past.pay(partnerId, { mode: 'test' });
  await pool.query("SELECT archive_prepare('2026-01-01')");
  await pool.query(`CREATE ROLE ${run} LOGIN`);
  await grantRoles(pool, { run });
  await admitHostile(pool, run);
  const made = await asRun(makeFunctions);
  expect(made.functions).toBeGreaterThan(100);
  expect(made.operators).toBeGreaterThan(50);
});

async function asRun<Result>(work: (session: PoolClient) => Promise<Result>): Promise<Result> {
  const session = await pool.connect();
  try {
    await session.query(`SET ROLE ${run}`);
    return await work(session);
  } finally {
    session.release(true);
  }
}

describe('no function with the rights of the owner reaches an object of its caller:', () => {
  test.each([
    ['log', 4],
    ['tables', 50],
    ['views', 50],
  ] as const)('%s, functions, operators and types', async (form, fewest) => {
    const before = await listTables();
    const done = await asRun(async session => {
      const made = await makeTemporary(session, form);
      expect(made.types).toBeGreaterThan(5);
      expect(made.relations).toBeGreaterThan(fewest);
      const did = new Set<string>();
      for (const each of await ownersFunctions(pool))
        for (const text of callsOf(each, partner)) {
          await session.query(text).then(
            () => did.add(each.name),
            () => {},
          );
          expect({ text, reached: await timesReached(pool) }).toEqual({ text, reached: 0 });
        }
      return did;
    });
    expect(await listTables()).toEqual(before);
    // They were not refused before they could reach anything.
    const working = [
      ...['archive_prepare', 'archive_payments', 'archive_entries'],
      ...['audit_chain_extend', 'log_partition_add', 'log_partition_drop', 'prune_test_data'],
    ];
    for (const name of working) expect([...done]).toContain(`public.${name}`);
    expect((await pool.query('SELECT FROM test_checkpoints')).rowCount).toBe(1);
  });

  test('one is reached by a function that looks for it where its caller says', async () => {
    await pool.query(
      `CREATE FUNCTION public.careless() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM audit'`,
    );
    await asRun(async session => {
      await makeTemporary(session, 'views');
      await session.query('SELECT public.careless()');
    });
    expect(await timesReached(pool)).toBeGreaterThan(0);
  });
});
