/**
 * Makes the schema of `database/` by migrations and functions, and compares with it what a database has. Who may use the schema
 * is in `src/db/roles/`.
 */
export { findChangedSchema } from './changed-schema.ts';
export { notOfExtension } from './extensions.ts';
export { hasSchema, migrate } from './migrate.ts';
