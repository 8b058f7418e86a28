import { readFileSync } from 'node:fs';
import { splitStatements } from '../sql-statements.ts';
import { shardRelations } from './layout.ts';

const forms = [
  /^CREATE (?:UNLOGGED )?TABLE \w+ PARTITION OF (\w+)/,
  /^CREATE (?:UNLOGGED )?TABLE (\w+)/,
  /^CREATE (?:UNIQUE )?INDEX \w+ ON (\w+)/,
  /^CREATE TRIGGER \w+ [^;]*? ON (\w+)/s,
  /^ALTER TABLE (\w+)/,
  /^COMMENT ON COLUMN (\w+)\./,
  /^CREATE VIEW (\w+)/,
];

/** The relation that a statement of schema.sql is about. */
export function relationOf(statement: string): string | undefined {
  for (const form of forms) {
    const found = form.exec(statement)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

const isTrigger = (statement: string) => /^(?:CREATE TRIGGER|ALTER TABLE \w+ ENABLE)/.test(statement);

/** Stays in shard 0 for processes of an earlier release, and does nothing any more. */
const oldTrigger = 'events_are_delivered';

/** The statements of schema.sql, without functions. */
const readStatements = (database: URL) =>
  splitStatements(readFileSync(new URL('schema.sql', database), 'utf8').split('\nFUNCTION ')[0]!);

interface Statements {
  /** Tables with their indexes and views. */
  tables: string[];
  /** They need the functions. */
  triggers: string[];
}

/** What schema.sql has for shard 0 and for what stands once. */
export function readFirstStatements(database: URL): Statements {
  const statements = readStatements(database);
  return {
    tables: statements.filter(statement => !isTrigger(statement)),
    triggers: statements.filter(isTrigger),
  };
}

/** What schema.sql has for a shard. */
export function readShardStatements(database: URL): Statements {
  const { tables, triggers } = readFirstStatements(database);
  const isOfShard = (statement: string) => shardRelations.includes(relationOf(statement) ?? '');
  return {
    tables: tables.filter(isOfShard),
    triggers: triggers.filter(statement => isOfShard(statement) && !statement.includes(oldTrigger)),
  };
}
