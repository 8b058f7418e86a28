import { OperatorError } from './operator-error.ts';

/**
 * What to do where there is no Kopeck database yet. Only `kopeck start` creates one: a command with a wrong DATA_DIR or
 * DATABASE_URL must not, since its operator would then work on an empty database without noticing.
 */
export type IfMissing = 'create' | 'refuse';

export function missingDatabase(where: { dataDir: string } | { address: string }): OperatorError {
  const [place, setting] =
    'dataDir' in where ? [`in ${where.dataDir}`, 'DATA_DIR'] : [where.address, 'DATABASE_URL'];
  return new OperatorError(
    `There is no Kopeck database ${place}: set ${setting}, or run \`kopeck start\` once. Nothing was written.`,
  );
}
