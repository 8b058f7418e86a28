import type { Command } from 'commander';
import { OperatorError } from '../../base/operator-error.ts';
import type { Settings } from '../../base/settings.ts';
import { type Database, explainDatabaseError, openDatabase } from '../../db/index.ts';
import { loadSettings } from '../../db/secrets/index.ts';
import { closeOnSignals } from '../command.ts';
import { table } from '../output.ts';
import { command, printOutput, type Terminal } from '../terminal.ts';
import { archiveCheck } from './archive-check.ts';
import { databaseChecks } from './database-checks.ts';
import { bad, type Finding, ok } from './finding.ts';
import { machineChecks } from './machine-checks.ts';
import { serviceChecks } from './service-checks.ts';

export function doctorCommand(terminal: Terminal): Command {
  return command(
    'doctor',
    'check settings, machine, database, gateway, rate, bot and certificate, and suggest fixes',
  ).action(async ({ json }: { json: boolean }) => {
    const found = await examine(terminal);
    const rows = Object.entries(found).map(([check, finding]) => ({ check, ...finding }));
    const isBad = rows.some(({ state }) => state === 'bad');
    const text = table(
      ['check', 'state', 'result'],
      rows.map(({ check, state, detail }) => [check, state, detail]),
    );
    printOutput(terminal, json, { json: { ok: !isBad, checks: rows }, text, isBad });
  });
}

/** What cannot be looked at, because an earlier check failed, is left out. */
async function examine({ env, stderr }: Terminal): Promise<Record<string, Finding>> {
  const found: Record<string, Finding> = {};
  let settings: Settings;
  try {
    settings = loadSettings(env);
    found.settings = ok('valid');
  } catch (error) {
    return { settings: problemIn(error) };
  }
  for (const [name, check] of Object.entries(machineChecks)) found[name] = await check(settings);
  let database: Database;
  try {
    database = await openDatabase(settings, line => stderr.write(`${line}\n`), 'refuse');
  } catch (error) {
    return { ...found, database: problemIn(error) };
  }
  const stopListening = closeOnSignals(database);
  try {
    found.database = ok(database.description);
    for (const [name, check] of Object.entries({ ...databaseChecks, ...archiveCheck, ...serviceChecks }))
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
