import type { Command } from 'commander';
import { expect } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { kopeck } from '../helpers/cli.ts';

const screen = { write: () => true };

function leavesOf(command: Command, path: string[] = []): [path: string, command: Command][] {
  if (command.commands.length === 0) return [[path.join(' '), command]];
  return command.commands.flatMap(one => leavesOf(one, [...path, one.name()]));
}

/** Every command that can be run, by its words. */
export const allCommands = leavesOf(await createProgram({ env: {}, stdout: screen, stderr: screen }));

/** As a shell would split it: without a redirection after it. */
export const wordsOf = (line: string) =>
  Array.from(line.replace(/ > .*/, '').matchAll(/'([^']*)'|(\S+)/g), ([, quoted, word]) => quoted ?? word!);

interface Example {
  line: string;
  /** What follows the name of the program. */
  args: string[];
}

/** The examples in the help of a command. */
export async function examplesOf(path: string): Promise<Example[]> {
  const { stdout } = await kopeck({}, ...path.split(' '), '--help');
  const [, examples = ''] = stdout.split('\nExamples:\n');
  const lines = examples.split('\n').flatMap(line => line.trim() || []);
  return lines.map(line => {
    const words = wordsOf(line);
    return { line, args: words.slice(words.indexOf('kopeck') + 1) };
  });
}

/** A call that the parser of this command accepts, with all that it requires. `args` begin with its name. */
export function expectAccepted(path: string, command: Command, { line, args }: Example): void {
  command.exitOverride().configureOutput({ writeErr: () => {} });
  const names = path.split(' ');
  expect(args.slice(0, names.length)).toEqual(names);
  const { operands, unknown } = command.parseOptions(args.slice(names.length));
  expect({ line, unknown }).toEqual({ line, unknown: [] });
  const required = command.registeredArguments.filter(one => one.required).length;
  expect(operands.length, line).toBeGreaterThanOrEqual(required);
  expect(operands.length, line).toBeLessThanOrEqual(command.registeredArguments.length);
  const wanted = command.options.filter(
    ({ mandatory, envVar }) => mandatory && !(envVar && line.includes(`${envVar}=`)),
  );
  for (const { long } of wanted) expect(args, line).toContain(long);
}
