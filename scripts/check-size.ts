/** Fails for files over 300 lines, outside texts, documents, migrations and generated files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listTextFiles, root } from './tracked-files.ts';

const maxLines = 300;
const isExempt = /^database\/migrations\/|\.md$|\.openapi\.json$|\/texts\/|[/.]texts\.tsx?$/;

for (const path of listTextFiles()) {
  if (isExempt.test(path)) continue;
  const lines = readFileSync(join(root, path), 'utf8').trimEnd().split('\n').length;
  if (lines <= maxLines) continue;
  console.error(`${path}  ${lines} lines, at most ${maxLines}: split it`);
  process.exitCode = 1;
}
