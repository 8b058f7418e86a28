import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { lintMigration, rules, statementsOf } from '../../database/lint-migrations.ts';
import { splitStatements } from '../../src/db/schema/sql-statements.ts';

const folder = new URL('../../database/migrations/', import.meta.url);
const files = readdirSync(folder).sort();
const sqlOf = (file: string) => readFileSync(new URL(file, folder), 'utf8');

const outside = (...statements: string[]) => `-- outside a transaction\n${statements.join(';\n')};`;
const found = (sql: string, earlier: string[] = []) => [
  ...new Set(lintMigration(sql, earlier).map(({ rule }) => rule)),
];

test('no migration would make a running service wait', () => {
  const findings = files.flatMap((file, index) => {
    const earlier = files.slice(0, index).flatMap(one => statementsOf(sqlOf(one)));
    return lintMigration(sqlOf(file), earlier).map(finding => ({ file, ...finding }));
  });
  expect(findings).toEqual([]);
});

/** For each rule, what it refuses. */
const refused: Record<string, string[]> = {
  'index-blocks-writes': [
    'CREATE INDEX a ON payments (id)',
    'create unique index a on payments (id)',
    'CREATE TABLE a (id int); CREATE INDEX b ON payments (id)',
  ],
  'concurrently-in-transaction': ['DROP INDEX CONCURRENTLY IF EXISTS a'],
  'blocks-outside-transaction': [
    outside('ALTER TABLE payments ADD COLUMN a int'),
    outside('DROP INDEX CONCURRENTLY a'),
    outside('ALTER TABLE payments VALIDATE CONSTRAINT a, ADD COLUMN b int'),
  ],
  'index-not-repeatable': [
    outside('CREATE INDEX CONCURRENTLY a ON payments (id)'),
    outside('DROP INDEX CONCURRENTLY IF EXISTS b', 'CREATE INDEX CONCURRENTLY a ON payments (id)'),
  ],
  'column-rewrites-table': [
    'ALTER TABLE payments ADD COLUMN a uuid DEFAULT gen_random_uuid()',
    'ALTER TABLE payments ADD a timestamptz NOT NULL DEFAULT clock_timestamp()',
    'ALTER TABLE payments ADD COLUMN a bigserial',
    'ALTER TABLE payments ADD COLUMN a int GENERATED ALWAYS AS (b + 1) STORED',
  ],
  'column-not-null': ['ALTER TABLE payments ADD COLUMN a int NOT NULL'],
  'column-with-constraint': [
    'ALTER TABLE payments ADD COLUMN a int REFERENCES partners',
    'ALTER TABLE payments ADD COLUMN a int UNIQUE',
  ],
  'type-rewrites-table': [
    'ALTER TABLE payments ALTER COLUMN a TYPE bigint',
    'ALTER TABLE payments ALTER a SET DATA TYPE text',
  ],
  'not-null-reads-table': ['ALTER TABLE payments ALTER COLUMN a SET NOT NULL'],
  'constraint-reads-table': [
    'ALTER TABLE payments ADD CONSTRAINT a CHECK (b > 0)',
    'ALTER TABLE payments ADD CONSTRAINT a FOREIGN KEY (b) REFERENCES partners',
    'ALTER TABLE ONLY payments ADD CHECK (b > 0)',
  ],
  'constraint-builds-index': [
    'ALTER TABLE payments ADD CONSTRAINT a UNIQUE (b)',
    'ALTER TABLE payments ADD PRIMARY KEY (id)',
  ],
  'validates-in-transaction': ['ALTER TABLE payments VALIDATE CONSTRAINT a'],
  'writes-whole-table': [
    'UPDATE payments SET a = 1',
    'DELETE FROM payments',
    'UPDATE payments SET a = 1 WHERE true',
  ],
  'locks-table': ['LOCK TABLE payments', 'LOCK payments IN SHARE MODE'],
  'rewrites-table': [
    'TRUNCATE payments',
    'CLUSTER payments',
    'REINDEX TABLE payments',
    'ALTER TABLE payments SET UNLOGGED',
  ],
  'breaks-previous-release': [
    'ALTER TABLE payments RENAME COLUMN a TO b',
    'ALTER TABLE payments RENAME TO b',
    'ALTER TABLE payments DROP COLUMN a',
    'DROP TABLE payments',
    'ALTER TYPE payment_opening ADD ATTRIBUTE a int',
  ],
  'own-timeout': ['SET lock_timeout = 0', "SET LOCAL statement_timeout = '1h'"],
  'unreadable-block': ['DO $$ BEGIN LOCK TABLE payments; END $$'],
};

test.each(Object.keys(rules))('a migration is refused, with how to write it instead, for %s', rule => {
  expect(refused[rule]?.length).toBeGreaterThan(0);
  for (const sql of refused[rule]!) expect({ sql, found: found(sql) }).toEqual({ sql, found: [rule] });
  expect(rules[rule]!.instead.length).toBeGreaterThan(20);
  expect(found(`-- allow ${rule}: the table has one row\n${refused[rule]![0]!}`)).not.toContain(rule);
  expect(found(`${refused[rule]![0]!}\n-- allow ${rule}: why\n`)).toContain(rule);
});

test.each([
  "CREATE TABLE a (id int PRIMARY KEY, b text NOT NULL CHECK (b <> 'x')); CREATE INDEX c ON a (id)",
  'CREATE TABLE a (id int); ALTER TABLE a ADD CONSTRAINT b CHECK (id > 0); UPDATE a SET id = 1',
  'ALTER TABLE payments ADD COLUMN a int',
  "ALTER TABLE payments ADD COLUMN a text NOT NULL DEFAULT 'x; LOCK TABLE payments'",
  'ALTER TABLE payments ADD COLUMN a timestamptz DEFAULT now()',
  'ALTER TABLE payments ADD CONSTRAINT a CHECK (b > 0) NOT VALID',
  'ALTER TABLE payments ADD CONSTRAINT a UNIQUE USING INDEX b',
  'ALTER TABLE payments DROP CONSTRAINT a',
  'ALTER TABLE payments ALTER COLUMN a DROP NOT NULL',
  "ALTER TYPE mode ADD VALUE 'other'",
  'UPDATE service SET a = 1 WHERE a IS NULL',
  'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE payments SET a = 1; END $$; CREATE TRIGGER t BEFORE UPDATE ON payments EXECUTE FUNCTION f()',
  outside('DROP INDEX CONCURRENTLY IF EXISTS a', 'CREATE INDEX CONCURRENTLY a ON payments (id)'),
  outside('ALTER TABLE payments VALIDATE CONSTRAINT a'),
])('is right: %s', sql => {
  expect(lintMigration(sql)).toEqual([]);
});

test('NOT NULL may be set once a validated constraint has proven it', () => {
  const sql = 'ALTER TABLE payments ALTER COLUMN a SET NOT NULL';
  const add = 'ALTER TABLE payments ADD CONSTRAINT c CHECK (a IS NOT NULL) NOT VALID';
  const validate = 'ALTER TABLE payments VALIDATE CONSTRAINT c';
  expect(found(sql, [add, validate])).toEqual([]);
  expect(found(sql, [add])).toEqual(['not-null-reads-table']);
  expect(found(sql, [add.replace('payments', 'events'), validate])).toEqual(['not-null-reads-table']);
});

test('statements end where PostgreSQL ends them', () => {
  expect(splitStatements(`SELECT ';' -- a; b\n; /* ; */ SELECT "a;b", $1; SELECT $x$ ; $y$ ; $x$;;`)).toEqual(
    [`SELECT ';'`, `SELECT "a;b", $1`, 'SELECT $x$ ; $y$ ; $x$'],
  );
  for (const open of ["SELECT ';", 'SELECT ";', 'SELECT $$ ;', 'SELECT 1 /* ;'])
    expect(splitStatements(open)).toHaveLength(1);
});
