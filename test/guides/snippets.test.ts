import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, test } from 'vitest';
import { startService } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { createPartnerWithKeys, secretKey } from '../helpers/partners.ts';
import { pack, root, run } from '../sdk/packed.ts';
import { hasProgram, runGuide, writeFiles } from './run-guide.ts';
import { guides, libraryReadme } from './snippets.ts';

const { pool, url } = await createDatabase();
// Commands start faster when one has read the sources for all.
const env = {
  DATABASE_URL: url,
  DATA_DIR: newFolder(),
  SECRET_KEY: secretKey,
  NODE_COMPILE_CACHE: newFolder(),
};
const service = startService(env);
afterAll(async () => void (await (await service).stop()));

// Unpacked only: that it can be installed is tested elsewhere.
const project = newFolder();
const library = join(project, 'node_modules/kopeck-client');
mkdirSync(library, { recursive: true });
run('tar', ['xzf', pack(), '--strip-components=1', '-C', library], project);
writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
const modules = join(root, 'node_modules');
for (const name of ['@types', 'express', 'fastify', 'hono'])
  symlinkSync(join(modules, name), join(project, 'node_modules', name));
const withSnippets = [...guides, libraryReadme].filter(({ snippets }) => snippets.length > 0);
for (const guide of withSnippets) writeFiles(guide, { project });

const { address } = await service;
const languages = { sh: 'curl', python: 'python3' };
const skipped = Object.entries(languages).flatMap(([language, program]) =>
  hasProgram(program) ? [] : [language],
);

describe.concurrent('every snippet', () => {
  test('is of a kind that is run', ({ expect }) => {
    expect(withSnippets.length).toBeGreaterThanOrEqual(9);
    for (const { path, snippets } of withSnippets)
      for (const { language, line } of snippets)
        expect(['sh', 'ts', 'js', 'python'], `${path}:${line}`).toContain(language);
  });

  test('of TypeScript has its types right', async ({ expect }) => {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      skipLibCheck: true,
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*/*.ts'] }));
    const check = promisify(execFile)(join(modules, '.bin/tsc'), ['-p', project]);
    expect(
      await check.then(
        () => '',
        ({ stdout }) => stdout,
      ),
    ).toBe('');
  });

  test.for(withSnippets)('of $name does what it says', async (guide, { expect }) => {
    // Enough for the largest payment.
    const customer = await createPartnerWithKeys(pool, 5_000_000_000n);
    await expect
      .poll(async () => {
        const headers = { authorization: `Bearer ${customer.testKey}` };
        return (await fetch(`${address}/v1/rate`, { headers })).status;
      })
      .toBe(200);
    await runGuide(guide, { project, address, env, expect, ...customer }, skipped);
  });
});
