#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Reading and compiling the source is most of what a short command does; kept, it takes half the time. Beside the
// packages and not in the common folder for temporary files, where others could put code for us to run.
enableCompileCache(join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'compiled'));
const { run } = await import('./program.ts');

// Whoever reads our output may have seen enough; that is not an error.
process.stdout.on('error', () => {});
await run(process.argv.slice(2), process);
