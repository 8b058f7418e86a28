import { type Pool, transaction } from '../../postgres/index.ts';
import { compareRecord, ownDatabase } from '../migrate.ts';
import { loadFunctions } from '../sql-functions.ts';
import { findConstraintFaults } from './constraints.ts';
import { findForeignOwners, findFunctionFaults } from './functions.ts';
import { readSchemaStatements } from './schema-statements.ts';
import { findTableFaults, findTriggerFaults } from './triggers.ts';

/**
 * How the triggers, constraints, functions and owners in the database differ from those of this version: disabled, missing, changed and foreign ones. Only
 * the owner of the schema can do that, or somebody who got its rights; who can also write which version is on record, so all is compared
 * whatever that is. A newer release has differences of its own.
 */
export async function findChangedSchema(pool: Pool): Promise<{ isNewer: boolean; faults: string[] }> {
  const { files } = loadFunctions(ownDatabase);
  const { tables, triggers } = readSchemaStatements();
  return transaction(pool, async tx => {
    const { isNewer, faults } = await compareRecord(tx);
    await tx.query({ text: 'SET LOCAL search_path = pg_catalog' });
    faults.push(...(await findTriggerFaults(tx, triggers)));
    faults.push(...(await findConstraintFaults(tx, tables)));
    faults.push(...(await findFunctionFaults(tx, files)));
    faults.push(...(await findTableFaults(tx)), ...(await findForeignOwners(tx)));
    return { isNewer, faults };
  });
}
