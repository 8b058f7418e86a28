import { type ParseArgsConfig, parseArgs } from 'node:util';

/** Ends the program: its caller made a mistake, and the usage says how to call it. */
export function refuseCall(usage: string, problem?: string): never {
  if (problem) console.error(problem);
  console.error(`Usage: ${usage}`);
  process.exit(2);
}

/** The options of a program of the tests. An unknown one ends it with the usage, not with a stack. */
export function readOptions<const T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    return refuseCall(usage, (error as Error).message);
  }
}
