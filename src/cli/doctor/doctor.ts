import { OperatorError } from '../../base/operator-error.ts';
import type { Settings } from '../../base/settings.ts';
import { type Database, explainDatabaseError, openDatabase } from '../../db/index.ts';
import { loadSettings } from '../../db/secrets/index.ts';
import { table } from '../output.ts';
import { closeOnSignals } from '../signals.ts';
import { type MakeCommand, progressOn, type Terminal } from '../terminal.ts';
import { databaseChecks } from './database-checks.ts';
import { bad, type Finding, ok } from './finding.ts';
import { machineChecks } from './machine-checks.ts';
import { serviceChecks } from './service-checks.ts';

export const doctorCommand = (command: MakeCommand<Terminal>) =>
  command(
    'doctor',
    'check settings, machine, database, gateway, rate, bot and certificate, and suggest fixes',
    doctor,
  );

async function doctor(terminal: Terminal) {
  const found = await examine(terminal);
  const checks = Object.entries(found).map(([check, finding]) => ({ check, ...finding }));
  const isBad = checks.some(({ state }) => state === 'bad');
  const text = table(checks, ({ check, state, detail }) => ({ check, state, result: detail }));
  return { json: { ok: !isBad, checks }, text, isBad };
}

/** What cannot be looked at, because an earlier check failed, is left out. */
async function examine(terminal: Terminal): Promise<Record<string, Finding>> {
  const found: Record<string, Finding> = {};
  let settings: Settings;
  try {
    settings = loadSettings(terminal.env);
    found.settings = ok('valid');
  } catch (error) {
    return { settings: problemIn(error) };
  }
  for (const [name, check] of Object.entries(machineChecks)) found[name] = await check(settings);
  let database: Database;
  try {
    database = await openDatabase(settings, progressOn(terminal), 'refuse');
  } catch (error) {
    return { ...found, database: problemIn(error) };
  }
  const stopListening = closeOnSignals(database);
  try {
    found.database = ok(database.description);
    for (const [name, check] of Object.entries({ ...databaseChecks, ...serviceChecks }))
      found[name] = await check(settings, database).catch(error =>
        problemIn(explainDatabaseError(error, settings)),
      );
    return found;
  } finally {
    await database.close();
    stopListening();
  }
}

/** Any other error is a fault of the program, and is shown with its stack. */
function problemIn(error: unknown): Finding {
  if (error instanceof OperatorError) return bad(error.message);
  throw error;
}
