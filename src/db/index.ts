/**
 * Opens the database of the settings, embedded or not: the one place that puts the parts together. Each folder is a part, and is
 * imported by its own `index.ts`; their order is `databaseParts` in `.dependency-cruiser.mjs`. Statements about payments, partners
 * and the like are in the modules above.
 */
export {
  type Database,
  explainDatabaseError,
  migrateDatabase,
  openDatabase,
  type PoolAndClock,
} from './database.ts';
