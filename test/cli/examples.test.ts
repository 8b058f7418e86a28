import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { kopeck } from '../helpers/cli.ts';

const screen = { write: () => true };

function leavesOf(command: Command, path: string[] = []): [path: string, command: Command][] {
  if (command.commands.length === 0) return [[path.join(' '), command]];
  return command.commands.flatMap(one => leavesOf(one, [...path, one.name()]));
}

const leaves = leavesOf(createProgram({ env: {}, stdout: screen, stderr: screen }));

/** As a shell would split it: without variables before the program and without a redirection after it. */
const wordsOf = (line: string) =>
  Array.from(line.replace(/ > .*/, '').matchAll(/'([^']*)'|(\S+)/g), ([, quoted, word]) => quoted ?? word!);

async function examplesOf(path: string): Promise<string[]> {
  const { stdout } = await kopeck({}, ...path.split(' '), '--help');
  const [, examples = ''] = stdout.split('\nExamples:\n');
  return examples.split('\n').flatMap(line => line.trim() || []);
}

describe('the examples in the help of', () => {
  test.each(leaves)('%s are calls of it that its parser accepts', async (path, command) => {
    command.exitOverride().configureOutput({ writeErr: () => {} });
    const lines = await examplesOf(path);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      const words = wordsOf(line);
      const called = words.slice(words.indexOf('kopeck') + 1);
      const names = path.split(' ');
      expect(called.slice(0, names.length)).toEqual(names);
      const { operands, unknown } = command.parseOptions(called.slice(names.length));
      expect({ line, unknown }).toEqual({ line, unknown: [] });
      const required = command.registeredArguments.filter(one => one.required).length;
      expect(operands.length, line).toBeGreaterThanOrEqual(required);
      expect(operands.length, line).toBeLessThanOrEqual(command.registeredArguments.length);
      const wanted = command.options.filter(
        ({ mandatory, envVar }) => mandatory && !(envVar && line.includes(`${envVar}=`)),
      );
      for (const { long } of wanted) expect(called, line).toContain(long);
    }
  });
});
