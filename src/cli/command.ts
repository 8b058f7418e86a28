import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';
import type { AuditContext } from '../db/audit/index.ts';
import { type Database, explainDatabaseError, openDatabase, type PoolAndClock } from '../db/index.ts';
import { type Keyring, loadSettings, openKeyring } from '../db/secrets/index.ts';
import type { Output, Screen } from './output.ts';
import { printOutput, type Terminal } from './terminal.ts';

export { command, printOutput, type Terminal } from './terminal.ts';

/** What every command with a database gets. */
export interface CommandContext {
  audit: AuditContext & PoolAndClock;
  settings: Settings;
  keyring: Keyring;
  /** For commands that take longer than two seconds: prints to stderr, not into the output. */
  progress(line: string): void;
  screen: Screen;
  /** Also done when a signal ends the command, before the database closes. */
  onInterrupt(work: () => Promise<void>): void;
}

export type WithDatabase = (
  asJson: boolean,
  work: (context: CommandContext) => Promise<Output>,
) => Promise<void>;

/** Opens the database, runs the command, prints its output, and always closes the database again. */
export function createWithDatabase(terminal: Terminal): WithDatabase {
  const progress = (line: string) => void terminal.stderr.write(`${line}\n`);
  return async (asJson, work) => {
    const settings = loadSettings(terminal.env);
    const database = await openDatabase(settings, progress, 'refuse');
    const interruptions: (() => Promise<void>)[] = [];
    const close = async () => {
      for (const work of interruptions) await work().catch(() => {});
      await database.close();
    };
    const stopListening = closeOnSignals({ close });
    try {
      const keyring = await openKeyring(settings, database.pool, 'refuse');
      const audit = { pool: database.pool, clock: database.clock, actor: `cli:${userInfo().username}` };
      const onInterrupt = (work: () => Promise<void>) => void interruptions.push(work);
      const context = { audit, settings, keyring, progress, screen: terminal.stderr, onInterrupt };
      printOutput(terminal, asJson, await work(context));
    } catch (error) {
      throw explainDatabaseError(error, settings);
    } finally {
      await database.close();
      stopListening();
    }
  };
}

/** Before a command starts the simulator, which would create the folder: only `kopeck start` does that. */
export function requireDataDir({ dataDir }: Settings): void {
  if (existsSync(dataDir)) return;
  throw new OperatorError(
    `There is no folder ${dataDir}: set DATA_DIR, or run \`kopeck start\` once. Nothing was changed.`,
  );
}

/** An interrupted command must not leave the embedded PostgreSQL running without a user. */
export function closeOnSignals({ close }: Pick<Database, 'close'>): () => void {
  const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
  const listeners = Object.entries(signals).map(([signal, code]) => {
    const listener = () => void close().finally(() => process.exit(code));
    process.once(signal, listener);
    return [signal, listener] as const;
  });
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  };
}
