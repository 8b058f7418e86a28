import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, test } from 'vitest';
import { root } from '../sdk/packed.ts';
import { guideTimeoutMs, startGuideWorld, withSnippets } from './guide-world.ts';
import { canRun, prepare } from './snippet-files.ts';
import { libraryReadme } from './snippets.ts';

const { project, read } = await startGuideWorld();
const inTypeScript = [...withSnippets, libraryReadme];
const prepared = {
  ts: new Map(
    await Promise.all(inTypeScript.map(async one => [one, await prepare(one, 'ts', project)] as const)),
  ),
  sh: new Map(
    await Promise.all(withSnippets.map(async one => [one, await prepare(one, 'sh', project)] as const)),
  ),
};

describe.concurrent('every snippet', () => {
  test('of TypeScript has its types right', async ({ expect }) => {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      skipLibCheck: true,
    };
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['ts/*/*.ts'] }),
    );
    const check = promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', project]);
    expect(
      await check.then(
        () => '',
        ({ stdout }) => stdout,
      ),
    ).toBe('');
  });

  test.for(inTypeScript)(
    'of TypeScript in $name does what it says',
    { timeout: guideTimeoutMs },
    (guide, { expect }) => read(guide, 'ts', prepared.ts.get(guide)!, expect),
  );

  test.skipIf(!canRun('sh')).for(withSnippets)(
    'of curl in $name does what it says',
    { timeout: guideTimeoutMs },
    (guide, { expect }) => read(guide, 'sh', prepared.sh.get(guide)!, expect),
  );
});
