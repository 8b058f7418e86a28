/** Makes `dist` anew from `src`, so that nothing that is gone from the one is left in the other. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const dist = join(import.meta.dirname, 'dist');
rmSync(dist, { recursive: true, force: true });
execFileSync('tsc', ['-p', import.meta.dirname], { stdio: 'inherit' });

// The compiler names the files of the code by what they become, but not those of the types.
for (const name of readdirSync(dist).filter(name => name.endsWith('.d.ts'))) {
  const text = readFileSync(join(dist, name), 'utf8');
  writeFileSync(join(dist, name), text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
}
