import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { systemClock as clock } from '../base/clock.ts';
import { OperatorError } from '../base/operator-error.ts';
import { readSettings, type Settings } from '../base/settings.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { openSecretKey } from '../db/secret-key.ts';
import { joinCluster, type Message, singleProcess } from './cluster-channel.ts';
import { createDemoPartner, describeDemoPartner, inviteFirstOperator } from './first-run.ts';
import { refuseForeignOrders } from './gateway-mismatch.ts';
import { buildPages } from './pages.ts';
import { startProcesses } from './processes.ts';
import type { Cleanup } from './service.ts';
import { type BankSide, startSimulator, withBank } from './simulator.ts';
import { startService } from './start-service.ts';

type Say = (line: string) => void;

/** Each keeps up to 14 connections, and a PostgreSQL as it comes allows 100. */
const mostByDefault = 4;

/** Runs the service until it is told to stop, and takes it down in the opposite order. */
export async function runService(say: Say): Promise<void> {
  const stopped = firstSignal();
  let isToStop = false;
  // Also while it still starts, which may take minutes when another process migrates the database.
  void stopped.then(() => {
    isToStop = true;
    leaveInTime(say);
  });
  const settings = readSettings(process.env);
  const cleanups: Cleanup[] = [];
  try {
    if (cluster.isWorker) {
      if (await runAsOneOfMany(settings, cleanups, say)) await stopped;
    } else {
      await runWithItsSurroundings(settings, cleanups, say);
      say(`Stopping on ${await stopped} …`);
    }
  } catch (error) {
    // Told to stop in the middle of its start, it may fail in any way.
    if (!isToStop) throw error;
  } finally {
    for (const close of cleanups.reverse()) await close();
    // Nothing more is said, so that nothing keeps this process.
    if (cluster.isWorker) process.disconnect();
  }
}

/** The database and, unless there is a gateway, its simulator; then the service, in this process or in several. */
async function runWithItsSurroundings(settings: Settings, cleanups: Cleanup[], say: Say): Promise<void> {
  const pagesBuilt = settings.roles.includes('console') && buildPages(say);
  const database = await openDatabase(settings, say);
  cleanups.push(database.close);
  const secretKey = await openSecretKey(settings, database.pool);
  const bank = settings.gatewayUrl ? undefined : await startSimulator(settings.dataDir, say);
  if (bank) {
    cleanups.push(bank.close);
    await refuseForeignOrders(bank, database.pool);
  }

  await pagesBuilt;

  const count = settings.processes ?? Math.min(availableParallelism(), mostByDefault);
  let address: string | undefined;
  if (count === 1) {
    address = await startService(withBank(settings, bank), database, singleProcess, cleanups);
  } else {
    const env = bank ? { [bankVariable]: JSON.stringify(bank) } : {};
    const processes = await startProcesses(count, env, say);
    cleanups.push(processes.stop);
    address = processes.address;
  }
  introduce(settings, count, database, bank, address, say);
  if (!address) return;
  const audit = { pool: database.pool, clock, actor: 'first start' };
  if (settings.roles.includes('console')) {
    const lines = await inviteFirstOperator(audit, secretKey, settings, address);
    if (lines) say(lines);
  }
  if (!settings.roles.includes('api')) return;
  const demonstration = bank && !settings.production && (await createDemoPartner(audit, secretKey));
  say(
    demonstration
      ? describeDemoPartner(demonstration, address)
      : 'Partners and keys: npx kopeck partner list',
  );
}

/** Tells the process that has started this one how it went. */
const tell = (message: Message) => void process.send!(message, undefined, undefined, () => {});

/** False if it could not start, which the one that has started it is told, and says. */
async function runAsOneOfMany(settings: Settings, cleanups: Cleanup[], say: Say): Promise<boolean> {
  const neighbours = joinCluster(tell);
  const bank = process.env[bankVariable];
  try {
    const database = await openDatabase(settings, say);
    cleanups.push(database.close);
    const surroundings = withBank(settings, bank && !settings.gatewayUrl ? JSON.parse(bank) : undefined);
    tell({ kopeck: 'ready', address: await startService(surroundings, database, neighbours, cleanups) });
    return true;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    tell({ kopeck: 'failed', line: error.message });
    process.exitCode = 1;
    return false;
  }
}

/** Where the simulator is, for the processes that this one starts. */
const bankVariable = 'KOPECK_SIMULATOR';

function introduce(
  { roles, telegramToken }: Settings,
  processes: number,
  { description }: Database,
  bank: BankSide | undefined,
  address: string | undefined,
  say: Say,
): void {
  if (!address) {
    say(processes === 1 ? 'Kopeck is working.' : `Kopeck is working (${processes} processes).`);
    return;
  }
  say(`Kopeck is ready at ${address}`);
  if (roles.includes('api')) say(`  docs       ${address}/docs`);
  if (roles.includes('console')) say(`  console    ${address}/console/`);
  if (bank) say(`  bank side  ${bank.url} (simulator: make QR codes, set faults)`);
  say(`  database   ${description}`);
  if (roles.includes('bot'))
    say(`  chat bot   ${telegramToken ? 'on' : 'none: set TELEGRAM_BOT_TOKEN for one'}`);
  say(`  processes  ${processes}\n`);
}

/** Whatever still hangs after this long is handed over: what it was about stands in the database. */
const leaveWithinMs = 85_000;

function leaveInTime(say: Say): void {
  const giveUp = () => {
    say('Something did not stop in time and was left where it is.');
    process.exit(1);
  };
  setTimeout(giveUp, leaveWithinMs).unref();
}

function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, resolve);
  });
}
