import { describe, expect, test } from 'vitest';
import { allCommands, examplesOf } from './all-commands.ts';

describe('the examples in the help of', () => {
  test.each(allCommands)('%s are calls of it that its parser accepts', async (path, command) => {
    command.exitOverride().configureOutput({ writeErr: () => {} });
    const examples = await examplesOf(path);
    expect(examples.length).toBeGreaterThan(0);
    for (const { line, args } of examples) {
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
  });
});
