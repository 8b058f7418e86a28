import { beforeAll, describe, test } from 'vitest';
import { startGuideWorld, withSnippets } from './guide-world.ts';
import { canRun, compileGo, type Prepared, prepare } from './snippet-files.ts';

const { project, read } = await startGuideWorld();

/** The standard library is compiled in the first run. */
const compileTimeoutMs = 600_000;

describe.for(['sh', 'python', 'php', 'go'] as const)('every snippet in %s', language => {
  describe.skipIf(!canRun(language)).concurrent('of', () => {
    const prepared = new Map<string, Prepared>();
    beforeAll(async () => {
      for (const guide of withSnippets) prepared.set(guide.name, await prepare(guide, language, project));
      if (language === 'go') await compileGo(project);
    }, compileTimeoutMs);

    test.for(withSnippets)('$name does what it says', (guide, { expect }) =>
      read(guide, language, prepared.get(guide.name)!, expect),
    );
  });
});
