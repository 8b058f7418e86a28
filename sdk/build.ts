/** Builds `dist` from `src` from scratch, so that no file of an earlier build is left. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const dist = join(import.meta.dirname, 'dist');
rmSync(dist, { recursive: true, force: true });
execFileSync('tsc', ['-p', import.meta.dirname], { stdio: 'inherit' });

// The compiler rewrites .ts imports in code, but not in declarations.
for (const name of readdirSync(dist).filter(name => name.endsWith('.d.ts'))) {
  const text = readFileSync(join(dist, name), 'utf8');
  writeFileSync(join(dist, name), text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
}
