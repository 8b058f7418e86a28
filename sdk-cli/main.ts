#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { runPartnerProgram } from '../src/cli/partner-program.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

// EPIPE: the reader of our output (`| head`) has ended, which is not an error.
process.stdout.on('error', () => {});
await runPartnerProgram(process.argv.slice(2), process, version);
