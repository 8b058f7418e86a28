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

/** The triggers of shard 0 and of what stands once. */
export const readTriggerStatements = (database: URL): string[] => readStatements(database).filter(isTrigger);

/** What schema.sql has for a shard: tables with their indexes and views; and triggers, which need the functions. */
export function readShardStatements(database: URL): { tables: string[]; triggers: string[] } {
  const statements = readStatements(database).filter(statement =>
    shardRelations.includes(relationOf(statement) ?? ''),
  );
  return {
    tables: statements.filter(statement => !isTrigger(statement)),
    triggers: statements.filter(statement => isTrigger(statement) && !statement.includes(oldTrigger)),
  };
}
