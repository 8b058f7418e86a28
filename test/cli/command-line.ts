import { expect } from 'vitest';
import { kopeck } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { folderWithKey } from '../helpers/folders.ts';

const oneLine = /^[^\n]+\n$/;

/** The commands of kopeck, or of one group of them. */
export function commandLineOf(env: Record<string, string>, commands = '') {
  const run = (...[words = '', ...rest]: string[]) => kopeck(env, `${commands} ${words}`.trim(), ...rest);
  const runJson = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  };
  async function expectRefusal(code: 1 | 2, message: RegExp, ...args: string[]): Promise<void> {
    const result = await run(...args);
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' });
    expect(result.stderr).toMatch(message);
    if (code === 1) expect(result.stderr).toMatch(oneLine);
  }
  return { run, runJson, expectRefusal };
}

/** With a database that has one partner. */
export async function createCommandLine() {
  const { pool, url } = await createDatabase();
  const dataDir = folderWithKey();
  const line = commandLineOf({ DATABASE_URL: url, DATA_DIR: dataDir });
  const partner: string = (await line.runJson('partner', 'create', '--name', 'Кофейня')).partner_id;
  return { pool, url, dataDir, partner, ...line };
}
