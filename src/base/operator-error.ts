/**
 * Something wrong that the person at the command line can mend. It is shown as one line, without a stack, so
 * the message names the thing and the fix.
 */
export class OperatorError extends Error {}

/** For a setting that cannot be used; `wanted` goes on from its name. */
export function refuseSetting(name: string, wanted: string): never {
  throw new OperatorError(`${name} ${wanted}. Correct it in the environment and start again.`);
}
