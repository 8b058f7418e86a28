import { compareRecord, ownDatabase } from '../migrate.ts';
import { type Pool, transaction } from '../pool.ts';
import { citusFunctions, distributedShards } from '../shards/citus.ts';
import { citusStatement } from '../shards/create-on-citus.ts';
import { copiesOf, listShards, pathOf, schemaOf, schemaOfAll, schemasOf } from '../shards/layout.ts';
import { readFirstStatements, readShardStatements } from '../shards/schema-statements.ts';
import { loadFunctions } from '../sql-functions.ts';
import { findConstraintFaults } from './constraints.ts';
import { findForeignOwners, findFunctionFaults } from './functions.ts';
import { findTableFaults, findTriggerFaults } from './triggers.ts';

/**
 * How the triggers, constraints, functions and owners in the database differ from those of this version: disabled, missing, changed and foreign ones. Only
 * the owner of the schema can do that, or somebody who got its rights; who can also write which version is on record, so all is compared
 * whatever that is. A newer release has differences of its own.
 */
export async function findChangedSchema(pool: Pool): Promise<{ isNewer: boolean; faults: string[] }> {
  const { files, citus } = loadFunctions(ownDatabase);
  const [first, further] = [readFirstStatements(ownDatabase), readShardStatements(ownDatabase)];
  return transaction(pool, async tx => {
    const record = await compareRecord(tx);
    const shards = await listShards(tx);
    const distributed = (await distributedShards(tx, shards)).map(schemaOf);
    await tx.query({ text: 'SET LOCAL search_path = pg_catalog' });
    const schemas = schemasOf(shards);
    const faults = record.faults;
    for (const schema of schemas) {
      const isDistributed = distributed.includes(schema);
      const path = `${isDistributed ? `${schema}, ${copiesOf(schema)}, public` : pathOf(schema)}, pg_temp`;
      const expected = isDistributed ? citusFunctions(files, citus) : files;
      if (schema !== schemaOfAll) {
        const { tables, triggers } = schema === 'public' ? first : further;
        const ofSchema = { schema, areOthersAllowed: isDistributed };
        const statements = isDistributed ? tables.map(citusStatement) : tables;
        faults.push(
          ...(await findTriggerFaults(tx, { ...ofSchema, statements: triggers })),
          ...(await findConstraintFaults(tx, { ...ofSchema, statements })),
        );
      }
      faults.push(...(await findFunctionFaults(tx, { schema, path, files: expected, isDistributed })));
    }
    faults.push(...(await findTableFaults(tx, schemas)), ...(await findForeignOwners(tx, schemas)));
    return { isNewer: record.isNewer, faults };
  });
}
