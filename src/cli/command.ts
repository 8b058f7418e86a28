import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';
import type { AuditContext } from '../db/audit/index.ts';
import { explainDatabaseError, openDatabase, type PoolAndClock } from '../db/index.ts';
import { type Keyring, loadSettings, openKeyring } from '../db/secrets/index.ts';
import { closeOnSignals } from './signals.ts';
import { command, type MakeCommand, progressOn, type Terminal, workAndPrint } from './terminal.ts';

export { choice, either, group, type Terminal } from './terminal.ts';

/** What every command with a database gets. */
export interface Context {
  audit: AuditContext & PoolAndClock;
  settings: Settings;
  keyring: Keyring;
  progress(line: string): void;
  terminal: Terminal;
  /** Also done when a signal ends the command, before the database closes. */
  onInterrupt(work: () => Promise<void>): void;
}

/** Makes commands with a database. */
export type DatabaseCommand = MakeCommand<Context>;

export const commandsWithDatabase = (terminal: Terminal): DatabaseCommand =>
  commandsOnDatabase(terminal, async context => ({ ...context, keyring: await openKeys(context) }));

/** For a backup: who makes it, such as the user of the database server, need not know the secret key. */
export type KeylessContext = Omit<Context, 'keyring'>;

export const commandsWithoutKeys = (terminal: Terminal): MakeCommand<KeylessContext> =>
  commandsOnDatabase(terminal, async context => context);

export const openKeys = ({ settings, audit }: KeylessContext) => openKeyring(settings, audit.pool, 'refuse');

/** Each opens the database, runs, prints its output, and always closes the database again. */
function commandsOnDatabase<With>(
  terminal: Terminal,
  complete: (context: KeylessContext) => Promise<With>,
): MakeCommand<With> {
  const progress = progressOn(terminal);
  return (usage, description, work) =>
    command(usage, description).action(async (...given) => {
      const settings = loadSettings(terminal.env);
      const database = await openDatabase(settings, progress, 'refuse');
      const interruptions: (() => Promise<void>)[] = [];
      const close = async () => {
        for (const work of interruptions) await work().catch(() => {});
        await database.close();
      };
      const stopListening = closeOnSignals({ close });
      try {
        const audit = { pool: database.pool, clock: database.clock, actor: `cli:${userInfo().username}` };
        const onInterrupt = (work: () => Promise<void>) => void interruptions.push(work);
        const context = await complete({ audit, settings, progress, terminal, onInterrupt });
        await workAndPrint(terminal, work, context, given);
      } catch (error) {
        throw explainDatabaseError(error, settings);
      } finally {
        await database.close();
        stopListening();
      }
    });
}

/** Before a command starts the simulator, which would create the folder: only `kopeck start` does that. */
export function requireDataDir({ dataDir }: Settings): void {
  if (existsSync(dataDir)) return;
  throw new OperatorError(
    `There is no folder ${dataDir}: set DATA_DIR, or run \`kopeck start\` once. Nothing was changed.`,
  );
}
