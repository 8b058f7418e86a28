import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runProgram } from '../helpers/cli.ts';
import { createDatabase, secretKey } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { hasCommit, unpack, version01 } from '../upgrade/previous-release.ts';
import { npm, pack, packagesFolder, startAndPay } from './packed.ts';

/** Where `.ci/run` puts it. */
const olderNode = join(import.meta.dirname, '../../node_modules/.cache/node-20/node_modules/.bin/node');

describe('npm pack', () => {
  const project = packagesFolder();
  const isInstalled = npm(['install', '--omit=dev', pack()], project);
  const kopeck = join(project, 'node_modules/.bin/kopeck');

  test.runIf(isInstalled)('the package pays and stops, with its console and its documentation', async () => {
    expect(await startAndPay(kopeck)).toEqual({
      statuses: { test: 'succeeded', live: 'succeeded' },
      pages: [200, 200, 200],
      exitCode: 0,
    });
  });

  test.runIf(isInstalled && hasCommit(version01))(
    'the package brings a database of version 0.1.0 over',
    async () => {
      const { url } = await createDatabase({ migrated: false });
      const env = { DATABASE_URL: url, SECRET_KEY: secretKey };
      const migrate = (program: string) => runProgram(program, env, ['migrate']);
      expect(await migrate(unpack(version01))).toMatchObject({ code: 0 });
      const main = join(project, 'node_modules/kopeck/dist/src/cli/main.js');
      expect(await migrate(main)).toMatchObject({ code: 0 });
      expect(await runProgram(main, env, ['ledger', 'verify'])).toMatchObject({ code: 0 });
    },
  );

  test.runIf(isInstalled)('the package names no TypeScript file, which Node would refuse to run', () => {
    const dist = join(project, 'node_modules/kopeck/dist');
    const code = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
      name => /^(src|simulator|sdk)\//.test(name) && /\.[jt]s$/.test(name),
    );
    expect(code.length).toBeGreaterThan(300);
    expect(code.filter(name => name.endsWith('.ts'))).toEqual([]);
    expect(code.filter(name => /\.ts['"]/.test(readFileSync(join(dist, name), 'utf8')))).toEqual([]);
  });

  test.runIf(isInstalled)('an error of the package names the line of the source', () => {
    const file = join(project, 'node_modules/kopeck/dist/src/base/settings.js');
    const lineOf = (path: string) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .findIndex(line => line.includes('function readSettings('));
    expect(lineOf(file)).toBe(lineOf(join(import.meta.dirname, '../../src/base/settings.ts')));
  });

  test.runIf(isInstalled)(
    'the package has the runbooks that its alerts name, and calls itself kopeck',
    async () => {
      const installed = join(project, 'node_modules/kopeck');
      const rules = readFileSync(join(installed, 'ops/prometheus/rules.yaml'), 'utf8');
      const named = Array.from(rules.matchAll(/runbook: (\S+)/g), ([, path]) => path!);
      expect(named.length).toBeGreaterThan(10);
      expect(named.filter(path => !existsSync(join(installed, path)))).toEqual([]);
      const { programName } = await import(join(installed, 'dist/src/base/program-name.js'));
      expect(programName).toBe('kopeck');
    },
  );

  test.runIf(isInstalled)('the command of operators is installed, and finds the program', () => {
    const command = join(project, 'node_modules/.bin/kopeck-as-service');
    const settings = join(newFolder(), 'kopeck.env');
    writeFileSync(settings, 'NODE_ENV=production\n');
    const { stdout, stderr } = spawnSync(command, ['--version'], {
      env: { PATH: '/usr/bin:/bin', KOPECK_ENV_FILE: settings, KOPECK_USER: userInfo().username },
      encoding: 'utf8',
    });
    const { version } = JSON.parse(readFileSync(join(project, 'node_modules/kopeck/package.json'), 'utf8'));
    expect({ stdout, stderr }).toEqual({ stdout: `${version}\n`, stderr: '' });
  });

  test.runIf(isInstalled)('no build tool is installed with it', () => {
    const tools = ['vite', 'typescript', 'vitest', 'react', '@swc/core'];
    expect(tools.filter(name => existsSync(join(project, 'node_modules', name)))).toEqual([]);
  });

  test.runIf(isInstalled && existsSync(olderNode))('a Node that is too old is named in one line', () => {
    const main = join(project, 'node_modules/kopeck/dist/src/cli/main.js');
    const { status, stderr } = spawnSync(olderNode, [main, '--version'], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^Kopeck needs Node 24 or later, and this is v20[^\n]+: run [^\n]+\n$/),
    });
  });
});
