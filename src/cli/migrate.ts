import { migrateDatabase } from '../db/index.ts';
import { loadSettings } from '../db/secrets/index.ts';
import { type MakeCommand, progressOn, type Terminal } from './terminal.ts';

export const migrateCommand = (command: MakeCommand<Terminal>) =>
  command('migrate', 'bring the schema up to date, as its owner, and grant roles what they need', migrate)
    .option('--run-role <role>', 'the PostgreSQL role of the service')
    .option('--read-role <role>', 'a PostgreSQL role that only reads');

async function migrate(terminal: Terminal, { runRole, readRole }: { runRole?: string; readRole?: string }) {
  const { migrations, roles } = await migrateDatabase(
    // The schema needs no SECRET_KEY, which production asks for.
    loadSettings({ ...terminal.env, NODE_ENV: undefined }),
    progressOn(terminal),
    { run: runRole, read: readRole },
  );
  const lines = [
    `The schema is up to date (${migrations} migrations).`,
    ...roles.run.map(name => `The role ${name} may run the service.`),
    ...roles.read.map(name => `The role ${name} may read.`),
  ];
  return { json: { migrations, roles }, text: lines.join('\n') };
}
