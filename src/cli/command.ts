import { userInfo } from 'node:os';
import { Command } from 'commander';
import { systemClock } from '../base/clock.ts';
import { readSettings, type Settings } from '../base/settings.ts';
import type { Desk } from '../db/audit.ts';
import { type Database, explainDatabaseError, openDatabase } from '../db/database.ts';
import { openSecretKey } from '../db/secret-key.ts';
import type { Output } from './output.ts';

/** What every command that touches the database works with. */
export interface Workplace {
  desk: Desk;
  settings: Settings;
  secretKey: string;
  /** For what takes longer than two seconds: goes to people's screens, not into the output. */
  progress(line: string): void;
}

const say = (line: string) => process.stderr.write(`${line}\n`);

/** Opens the database, does the work, prints what came of it, and closes the database again whatever happened. */
export async function atWork(
  asJson: boolean,
  work: (workplace: Workplace) => Promise<Output>,
): Promise<void> {
  const settings = readSettings(process.env);
  const database = await openDatabase(settings, say);
  closeOnSignals(database);
  try {
    const secretKey = await openSecretKey(settings, database.pool);
    const desk = { pool: database.pool, clock: systemClock, actor: `cli:${userInfo().username}` };
    const { json, text } = await work({ desk, settings, secretKey, progress: say });
    process.stdout.write(`${asJson ? JSON.stringify(json, null, 2) : text}\n`);
  } catch (error) {
    throw explainDatabaseError(error, settings);
  } finally {
    await database.close();
  }
}

/** An embedded server that nobody uses any more must not stay behind because its last user was interrupted. */
function closeOnSignals({ close }: Database): void {
  const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
  for (const [signal, exitCode] of Object.entries(signals)) {
    process.once(signal, () => void close().finally(() => process.exit(exitCode)));
  }
}

/** A command with the options all of them have; its arguments stand behind its name, as in `show <partner>`. */
export function command(usage: string, description: string): Command {
  const [name, ...parameters] = usage.split(' ');
  const result = new Command(name).description(description).option('--json', 'print JSON for machines');
  for (const parameter of parameters) result.argument(parameter);
  return result;
}
