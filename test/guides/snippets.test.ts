import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, test } from 'vitest';
import { root } from '../sdk/packed.ts';
import { startGuideWorld, withSnippets } from './guide-world.ts';
import { canRun, prepare } from './snippet-files.ts';
import { libraryReadme } from './snippets.ts';

const { project, read } = await startGuideWorld();
const inTypeScript = [...withSnippets, libraryReadme];
const prepared = new Map(
  await Promise.all(inTypeScript.map(async one => [one, await prepare(one, 'ts', project)] as const)),
);
// With curl the others are in the long set.
const firstGuide = withSnippets.filter(({ name }) => name === 'first-payment');

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

  test.for(inTypeScript)('of TypeScript in $name does what it says', (guide, { expect }) =>
    read(guide, 'ts', prepared.get(guide)!, expect),
  );

  test.skipIf(!canRun('sh')).for(firstGuide)(
    'of curl in $name does what it says',
    async (guide, { expect }) => read(guide, 'sh', await prepare(guide, 'sh', project), expect),
  );
});
