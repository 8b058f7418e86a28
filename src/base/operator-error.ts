/**
 * A problem that the person at the command line can fix. It is printed as one line, without a stack, so the message
 * names both the problem and the fix.
 */
export class OperatorError extends Error {}

/** For a setting that cannot be used; `wanted` continues the sentence after its name. */
export function refuseSetting(name: string, wanted: string): never {
  throw new OperatorError(`${name} ${wanted}. Correct it in the environment and start again.`);
}
