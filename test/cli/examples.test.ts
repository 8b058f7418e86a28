import { describe, expect, test } from 'vitest';
import { allCommands, examplesOf, expectAccepted } from './all-commands.ts';

describe('the examples in the help of', () => {
  test.each(allCommands)('%s are calls of it that its parser accepts', async (path, command) => {
    const examples = await examplesOf(path);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expectAccepted(path, command, example);
  });
});
