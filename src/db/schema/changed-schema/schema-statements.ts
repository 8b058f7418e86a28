import { readFileSync } from 'node:fs';
import { ownDatabase } from '../migrate.ts';
import { splitStatements } from '../sql-statements.ts';

const forms = [
  /^CREATE (?:UNLOGGED )?TABLE (\w+)/,
  /^CREATE (?:UNIQUE )?INDEX \w+ ON (\w+)/,
  /^CREATE TRIGGER \w+ [^;]*? ON (\w+)/s,
];

/** The table that a statement of schema.sql is about. */
export function tableOf(statement: string): string | undefined {
  for (const form of forms) {
    const found = form.exec(statement)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

const isTrigger = (statement: string) => /^(?:CREATE TRIGGER|ALTER TABLE \w+ ENABLE)/.test(statement);

/** What schema.sql has: tables with their indexes and views, and triggers apart. Without functions. */
export function readSchemaStatements(): { tables: string[]; triggers: string[] } {
  const [schema = ''] = readFileSync(new URL('schema.sql', ownDatabase), 'utf8').split('\nFUNCTION ');
  const statements = splitStatements(schema);
  return {
    tables: statements.filter(statement => !isTrigger(statement)),
    triggers: statements.filter(isTrigger),
  };
}
