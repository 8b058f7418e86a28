import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kopeck } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';
import { allCommands, examplesOf, expectAccepted } from './all-commands.ts';

const scriptFor = async (shell: string) => (await kopeck({}, 'completion', shell)).stdout;

/** What the script offers for the last word of a line. */
function complete(script: string, ...line: string[]): string[] {
  const ask = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kopeck; printf "%s\\n" "\${COMPREPLY[@]}"`;
  const output = execFileSync('bash', ['-c', `${script}\n${ask}`, 'bash', 'kopeck', ...line], {
    encoding: 'utf8',
  });
  return output.split('\n').filter(Boolean);
}

describe('kopeck completion', () => {
  test('bash: commands, their subcommands and options', async () => {
    const script = await scriptFor('bash');
    expect(complete(script, 'pay')).toEqual(['payment']);
    expect(complete(script, 'partner', 'l')).toEqual(['list', 'limits']);
    expect(complete(script, 'payment', 'list', '--e')).toEqual(['--external-id']);
    // An argument or the value of an option does not change what may follow.
    expect(complete(script, 'key', 'create', 'prt_1', '--mode', 'test', '--a')).toEqual(['--allow-ip']);
    expect(complete(script, 'unknown', '--v')).toEqual(['--version']);
  });

  test.each(['bash', 'zsh', 'fish'])('%s accepts the script', async shell => {
    const script = await scriptFor(shell);
    expect(script).toContain('payment list');
    const file = join(newFolder(), 'script');
    writeFileSync(file, script);
    const { error, status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
    if (error) return console.warn(`SKIPPED: ${shell} cannot be found.`);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('another shell is refused with the names of those that are known', async () => {
    const { code, stderr } = await kopeck({}, 'completion tcsh');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/bash, zsh, fish/)]);
  });
});

test.each(allCommands)(
  'the examples in the help of %s are calls of it that its parser accepts',
  async (path, command) => {
    const examples = await examplesOf(path);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expectAccepted(path, command, example);
  },
);
