#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Reading and compiling the source is most of what a short command does; kept, it takes half the time. Beside the
// packages and not in the common folder for temporary files, where others could put code for us to run.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled'));
await import('./cli/program.ts');
