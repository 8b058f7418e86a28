/** A schema of the database, and the statements of schema.sql that say what it should have. */
export interface ComparedSchema {
  schema: string;
  statements: string[];
  /** Citus makes others on its tables. */
  areOthersAllowed: boolean;
}

/** `… on table`, with the schema of the table unless it is the first one. */
export const placeIn = (schema: string, key: string) =>
  schema === 'public' ? key : key.replace(' on ', ` on ${schema}.`);
