import type { Command } from 'commander';
import { migrateDatabase } from '../db/index.ts';
import { loadSettings } from '../db/secrets/index.ts';
import { command, printOutput, type Terminal } from './terminal.ts';

export function migrateCommand(terminal: Terminal): Command {
  return command('migrate', 'bring the schema up to date, as its owner, and grant roles what they need')
    .option('--run-role <role>', 'the PostgreSQL role of the service')
    .option('--read-role <role>', 'a PostgreSQL role that only reads')
    .action(async ({ json, runRole, readRole }: { json: boolean; runRole?: string; readRole?: string }) => {
      const { migrations, roles } = await migrateDatabase(
        // The schema needs no SECRET_KEY, which production asks for.
        loadSettings({ ...terminal.env, NODE_ENV: undefined }),
        line => terminal.stderr.write(`${line}\n`),
        { run: runRole, read: readRole },
      );
      const lines = [
        `The schema is up to date (${migrations} migrations).`,
        ...roles.run.map(name => `The role ${name} may run the service.`),
        ...roles.read.map(name => `The role ${name} may read.`),
      ];
      printOutput(terminal, json, { json: { migrations, roles }, text: lines.join('\n') });
    });
}
