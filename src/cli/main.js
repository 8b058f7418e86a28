#!/usr/bin/env node
import * as nodeModule from 'node:module';
import { join } from 'node:path';

const minMajor = 24;
if (Number.parseInt(process.versions.node, 10) < minMajor) {
  console.error(
    `Kopeck needs Node ${minMajor} or later, and this is ${process.version}: run the command kopeck, which finds its own.`,
  );
  process.exit(1);
}
// A short command spends most of its time compiling the source; the cache halves it. The cache is beside the packages
// and not in the shared temporary folder, where other users could place code for us to run. This file is JavaScript: for a first
// file in TypeScript every process would load the compiler, which takes 25 MB, before it knows of the cache.
nodeModule.enableCompileCache(join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'compiled'));
// PostgreSQL waits for a call per WAL segment, so that loads only what it needs.
const isWalCommand = ['archive-wal', 'restore-wal'].includes(process.argv[2] ?? '');
const { run } = isWalCommand ? await import('./wal.ts') : await import('./program.ts');

// EPIPE: the reader of our output (`| head`) has ended, which is not an error.
process.stdout.on('error', () => {});
await run(process.argv.slice(2), process);
