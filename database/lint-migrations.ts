import { splitStatements } from '../src/db/schema/sql-statements.ts';

/** A migration as the rules see it. */
interface Migration {
  isOutside: boolean;
  statements: string[];
  /** Tables of this migration: they are empty, and nobody uses them yet. */
  created: Set<string>;
  /** Statements of all migrations before it. */
  earlier: string[];
}

interface Rule {
  /** A statement breaks it that matches one of these, */
  has?: RegExp[];
  /** or is ALTER TABLE of a table that is in use and matches this, */
  alters?: RegExp;
  /** or for which this is true, */
  breaks?(statement: string, migration: Migration, index: number): boolean;
  /** unless it matches this. */
  unless?: RegExp;
  /** What it would do to a running service, and how to write it. */
  instead: string;
}

const outsideMark = '-- outside a transaction\n';
const name = String.raw`(?:IF (?:NOT )?EXISTS )?(?:ONLY )?"?([\w.]+)"?`;

const captured = (pattern: string, statement: string) =>
  new RegExp(pattern, 'i').exec(statement)?.[1]?.toLowerCase();
const alteredTable = (statement: string) => captured(`^ALTER TABLE ${name}`, statement);
const indexedTable = (statement: string) => captured(`^CREATE (?:UNIQUE )?INDEX.*? ON ${name}`, statement);
const isInUse = (table: string | undefined, { created }: Migration) =>
  table !== undefined && !created.has(table);

function breaksRule(rule: Rule, statement: string, migration: Migration, index: number): boolean {
  const { has = [], alters, breaks, unless } = rule;
  if (unless?.test(statement)) return false;
  if (has.some(pattern => pattern.test(statement))) return true;
  if (alters?.test(statement) && isInUse(alteredTable(statement), migration)) return true;
  return breaks?.(statement, migration, index) ?? false;
}

/** Whether earlier migrations have proven that the column has no nulls. */
function isProvenNotNull(statement: string, { earlier }: Migration): boolean {
  const table = alteredTable(statement);
  const column = captured(String.raw`ALTER (?:COLUMN )?"?(\w+)"? SET NOT NULL`, statement);
  const constraint = earlier
    .filter(one => alteredTable(one) === table)
    .map(one =>
      captured(String.raw`ADD CONSTRAINT (\w+) CHECK \(+"?${column}"? IS NOT NULL\)+ NOT VALID`, one),
    )
    .find(found => found !== undefined);
  return earlier.some(
    one => alteredTable(one) === table && captured(String.raw`VALIDATE CONSTRAINT (\w+)`, one) === constraint,
  );
}

const addNotValid =
  'Add it NOT VALID; a later migration outside a transaction has ALTER TABLE … VALIDATE CONSTRAINT.';

export const rules: Record<string, Rule> = {
  'index-blocks-writes': {
    breaks: (statement, { created }) =>
      /^CREATE (?:UNIQUE )?INDEX /i.test(statement) && !created.has(indexedTable(statement) ?? ''),
    unless: /INDEX CONCURRENTLY/i,
    instead:
      'Writes wait until the index is built. Use CREATE INDEX CONCURRENTLY in a migration outside a transaction.',
  },
  'concurrently-in-transaction': {
    breaks: (statement, { isOutside }) => !isOutside && /\bCONCURRENTLY\b/i.test(statement),
    instead: 'It fails in a transaction. Begin the file with the line "-- outside a transaction".',
  },
  'blocks-outside-transaction': {
    breaks: (statement, { isOutside }) =>
      isOutside &&
      !/^(?:CREATE (?:UNIQUE )?INDEX CONCURRENTLY|DROP INDEX CONCURRENTLY IF EXISTS|REINDEX .*CONCURRENTLY) /i.test(
        statement,
      ) &&
      !/^ALTER TABLE \S+ VALIDATE CONSTRAINT \w+$/i.test(statement),
    instead:
      'Outside a transaction there is no lock timeout, and a part may be repeated: only CREATE INDEX CONCURRENTLY, DROP INDEX CONCURRENTLY IF EXISTS, REINDEX CONCURRENTLY and VALIDATE CONSTRAINT, one per statement. Move the rest to another migration.',
  },
  'index-not-repeatable': {
    breaks: (statement, { statements }, index) => {
      const created = captured(String.raw`^CREATE (?:UNIQUE )?INDEX CONCURRENTLY "?(\w+)`, statement);
      if (created === undefined) return false;
      return (
        captured(String.raw`^DROP INDEX CONCURRENTLY IF EXISTS "?(\w+)`, statements[index - 1] ?? '') !==
        created
      );
    },
    instead:
      'An index whose building was interrupted stays, and is invalid. Put DROP INDEX CONCURRENTLY IF EXISTS of the same name before it, and no IF NOT EXISTS.',
  },
  'column-rewrites-table': {
    alters: /ADD (?:COLUMN )?.*(?:DEFAULT (?!now\(\))[^,]*\w\(|\b(?:small|big)?serial\b|\bGENERATED\b)/is,
    instead:
      'Every row is written while the table is locked. Add the column without the default, set the default in the same migration (ALTER COLUMN … SET DEFAULT), and fill old rows in batches from the worker.',
  },
  'column-not-null': {
    alters: /ADD (?:COLUMN )?(?!CONSTRAINT|CHECK|FOREIGN|UNIQUE|PRIMARY|EXCLUDE)[^,]*\bNOT NULL\b/is,
    unless: /\bDEFAULT\b/i,
    instead:
      'It fails if there are rows, and for processes of the previous release. Give it a constant default.',
  },
  'column-with-constraint': {
    alters:
      /ADD (?:COLUMN )?(?!CONSTRAINT|CHECK|FOREIGN|UNIQUE|PRIMARY|EXCLUDE)[^,]*\b(?:REFERENCES|CHECK|UNIQUE|PRIMARY KEY)\b/is,
    instead: `The whole table is read, or an index is built, while it is locked. Add the column alone. The constraint: ${addNotValid}`,
  },
  'type-rewrites-table': {
    alters: /ALTER (?:COLUMN )?\S+ (?:SET DATA )?TYPE\b/i,
    instead:
      'Every row and index is written while the table is locked. Add a column of the new type, write both, fill old rows in batches, drop the old one a release later.',
  },
  'not-null-reads-table': {
    breaks: (statement, migration) =>
      /\bSET NOT NULL\b/i.test(statement) &&
      isInUse(alteredTable(statement), migration) &&
      !isProvenNotNull(statement, migration),
    instead:
      'The whole table is read while it is locked. First ADD CONSTRAINT … CHECK (column IS NOT NULL) NOT VALID; then, in a migration outside a transaction, VALIDATE CONSTRAINT; then SET NOT NULL.',
  },
  'constraint-reads-table': {
    alters: /ADD (?:CONSTRAINT \S+ )?(?:CHECK|FOREIGN KEY)\b/i,
    unless: /\bNOT VALID\b/i,
    instead: `The whole table is read while it is locked. ${addNotValid}`,
  },
  'constraint-builds-index': {
    alters: /ADD (?:CONSTRAINT \S+ )?(?:UNIQUE|PRIMARY KEY|EXCLUDE)\b/i,
    unless: /\bUSING INDEX\b/i,
    instead:
      'Writes wait until the index is built. Use CREATE UNIQUE INDEX CONCURRENTLY outside a transaction, then ADD CONSTRAINT … USING INDEX.',
  },
  'validates-in-transaction': {
    breaks: (statement, { isOutside }) => !isOutside && /\bVALIDATE CONSTRAINT\b/i.test(statement),
    instead:
      'Locks of the statements before it are kept while the table is read. Move it to a migration outside a transaction.',
  },
  'writes-whole-table': {
    breaks: (statement, migration) =>
      isInUse(captured(`^(?:UPDATE|DELETE FROM) ${name}`, statement), migration),
    unless: /\bWHERE\b(?! true\b)/i,
    instead:
      'All rows are locked until the migration commits. Fill or delete in batches from the worker, or use a WHERE that finds few rows.',
  },
  'locks-table': {
    has: [/^LOCK\b/i],
    instead: 'Everything waits until the migration commits. Take row locks, or none.',
  },
  'rewrites-table': {
    has: [
      /^(?:VACUUM FULL|CLUSTER|TRUNCATE|REINDEX (?!.*CONCURRENTLY)|REFRESH MATERIALIZED VIEW (?!CONCURRENTLY))/i,
      /^ALTER TABLE .* SET (?:LOGGED|UNLOGGED|TABLESPACE|ACCESS METHOD)\b/i,
    ],
    instead:
      'The table cannot be used meanwhile. Use the form with CONCURRENTLY outside a transaction, or a new table.',
  },
  'breaks-previous-release': {
    has: [
      /^ALTER (?:TABLE|TYPE|VIEW) .*\bRENAME\b/i,
      /^ALTER TYPE .*\b(?:ADD|DROP|ALTER) ATTRIBUTE\b/i,
      /^DROP (?:TABLE|TYPE|VIEW|FUNCTION)\b/i,
    ],
    alters: /\bDROP (?:COLUMN )?(?!CONSTRAINT|DEFAULT|NOT NULL|EXPRESSION|IDENTITY)\w/i,
    instead:
      'Processes of the previous release still use it. Add the new name beside it; drop the old one a release later, with a line "-- allow breaks-previous-release: unused since …".',
  },
  'own-timeout': {
    has: [/^SET (?:LOCAL |SESSION )?"?(?:lock_timeout|statement_timeout)/i],
    instead:
      'Migrations wait 3 s for a lock and are tried again five times: src/db/schema/migrate.ts sets it.',
  },
  'unreadable-block': {
    has: [/^DO\b/i],
    instead:
      'What it runs is not checked. Write plain statements, or review it and add "-- allow unreadable-block: …".',
  },
};

export interface Finding {
  rule: string;
  statement: string;
  instead: string;
}

/** Texts are blanked, so that no rule reads them. */
const simplify = (statement: string) => statement.replace(/'[^']*'/g, "''").replace(/\s+/g, ' ');

export const statementsOf = (sql: string) => splitStatements(sql).map(simplify);

/**
 * What a migration would do to a running service, with how to write it instead. A file allows a rule by a line of its own:
 * `-- allow RULE: why`.
 */
export function lintMigration(sql: string, earlier: string[] = []): Finding[] {
  const statements = statementsOf(sql);
  const created = statements.flatMap(
    statement => captured(`^CREATE (?:UNLOGGED )?TABLE ${name}`, statement) ?? [],
  );
  const migration = {
    isOutside: sql.startsWith(outsideMark),
    statements,
    created: new Set(created),
    earlier,
  };
  const allowed = new Set(Array.from(sql.matchAll(/^-- allow ([\w-]+): .{10,}$/gm), ([, rule]) => rule));
  return statements.flatMap((statement, index) =>
    Object.entries(rules)
      .filter(([name, rule]) => !allowed.has(name) && breaksRule(rule, statement, migration, index))
      .map(([rule, { instead }]) => ({ rule, statement: statement.slice(0, 100), instead })),
  );
}
