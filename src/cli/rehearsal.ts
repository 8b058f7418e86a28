import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAlarms } from '../alarms/index.ts';
import { systemClock } from '../base/clock.ts';
import { OperatorError } from '../base/operator-error.ts';
import { readSettings, type Settings } from '../base/settings.ts';
import * as backups from '../db/backup/index.ts';
import * as stores from '../db/backup-store/index.ts';
import { type Database, openDatabase } from '../db/index.ts';
import { createKeyring, loadSettings } from '../db/secrets/index.ts';
import { createHttpGateway } from '../gateway/index.ts';
import { verifyLedger } from '../ledger/index.ts';
import { createReferenceSealer, findRecovering, recoverRound } from '../payments/index.ts';
import { backupStore } from './backup-store.ts';
import { type Output, table } from './output.ts';
import { abortOnSignals } from './signals.ts';
import { type MakeCommand, progressOn, type Terminal } from './terminal.ts';

/** What the steps of a rehearsal share. Everything they make is in the folder `scratch`. */
interface Rehearsal {
  settings: Settings;
  scratch: string;
  from: stores.BackupStore;
  backupId: string | undefined;
  signal: AbortSignal;
  progress(line: string): void;
  /** What earlier steps have found and opened. */
  chosen?: { backup: stores.Manifest; chain: backups.WalChain };
  database?: Database;
}

/** By its name; it returns what it found, in a few words. */
type Steps = Record<string, (rehearsal: Rehearsal) => Promise<string>>;

/** Backs up the running service, into the scratch folder. */
const backupStep: Steps = {
  backup: async ({ settings, from, progress }) => {
    const origin = settings.databaseUrl ? 'outside' : 'embedded';
    const { pool, close } = await openDatabase(settings, progress, 'refuse');
    try {
      const { id, bytes } = await backups.takeBackup(pool, { to: from, origin });
      return `${id}, ${stores.megabytes(bytes)} MB`;
    } finally {
      await close();
    }
  },
};

export const restoreSteps: Steps = {
  check: async rehearsal => {
    rehearsal.chosen = await backups.chooseBackup(rehearsal.from, { id: rehearsal.backupId });
    const { backup } = rehearsal.chosen;
    await backups.checkFiles(rehearsal.from, backup);
    return `${backup.id}: ${backup.files.length} files match the manifest`;
  },

  restore: async ({ scratch, from, chosen, signal }) => {
    const { until } = await backups.restoreBackup({
      ...chosen!,
      from,
      dataDir: dataIn(scratch),
      signal,
      isScratch: true,
    });
    return `all commits until ${until}`;
  },

  start: async rehearsal => {
    const settings = readSettings({ DATA_DIR: dataIn(rehearsal.scratch) });
    rehearsal.database = await openDatabase(settings, rehearsal.progress, 'refuse');
    return 'the restored server is ready';
  },

  verify: async ({ database }) => {
    const { findings, entries, invariants } = await verifyLedger(database!.pool);
    const [first] = findings;
    if (first)
      throw new OperatorError(
        `${findings.length} findings, such as: ${first.invariant} (${first.partnerId}, ${first.mode}: ${first.detail})`,
      );
    return `${entries} entries, ${invariants.length} invariants hold`;
  },
};

const dataIn = (scratch: string) => join(scratch, 'data');

type Report = Awaited<ReturnType<typeof runStep>>;

type Given = Pick<Rehearsal, 'settings' | 'backupId' | 'progress'> & { from: stores.BackupStore | undefined };

/**
 * Runs the steps in a scratch folder, which is removed afterwards. A step that fails is the last one. Of a backup of an
 * outside server only the files are checked: its version and its roles are not ours.
 */
export async function rehearse(steps: Steps, given: Given) {
  const scratch = await fs.mkdtemp(join(tmpdir(), 'kopeck-rehearsal-'));
  const interrupted = new AbortController();
  const stopListening = abortOnSignals(interrupted);
  const from = given.from ?? stores.openFolderStore(join(scratch, 'backups'));
  const rehearsal: Rehearsal = { ...given, scratch, from, signal: interrupted.signal };
  const reports: Report[] = [];
  try {
    for (const [name, run] of Object.entries(steps)) {
      const report = await runStep(name, () => run(rehearsal), rehearsal.signal);
      reports.push(report);
      if (!report.ok || rehearsal.chosen?.backup.origin === 'outside') break;
    }
  } finally {
    await rehearsal.database?.close();
    await fs.rm(scratch, { recursive: true, force: true });
    stopListening();
  }
  return describe(reports, rehearsal.chosen?.backup);
}

async function runStep(name: string, run: () => Promise<string>, signal: AbortSignal) {
  const startedAt = systemClock.monotonicMs();
  const ms = () => Math.round(systemClock.monotonicMs() - startedAt);
  const report = (ok: boolean, result: string) => ({ name, ms: ms(), result, ok });
  try {
    signal.throwIfAborted();
    return report(true, await stores.withFileErrors(run));
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return report(false, error.message);
  }
}

function describe(reports: Report[], backup: stores.Manifest | undefined): Output {
  const ok = reports.every(report => report.ok);
  const total = reports.reduce((sum, { ms }) => sum + ms, 0);
  const steps = table([...reports, { name: 'total', ms: total, result: '' }], ({ name, ms, result }) => ({
    step: name,
    seconds: (ms / 1000).toFixed(1),
    result,
  }));
  return {
    isBad: !ok,
    json: { ok, backup_id: backup?.id ?? null, total_ms: total, steps: reports },
    text: `${steps}\n${conclusion(ok, backup)}`,
  };
}

function conclusion(ok: boolean, backup: stores.Manifest | undefined): string {
  if (!ok) return 'The backup cannot be restored.';
  return backup?.origin === 'outside'
    ? `Only the files were checked: this is a backup of your own PostgreSQL. Restore it manually (${backups.guide}).`
    : 'The backup can be restored.';
}

const silent = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * The restored database waits until the gateway was asked, here a simulator without orders. Only this process uses them, so
 * no late order can arrive: the 20 s that a service waits for one are left out.
 */
const openStep: Steps = {
  open: async ({ database, scratch, progress }) => {
    const { pool: db, clock } = database!;
    const before = await findRecovering(db);
    if (!before) throw new OperatorError('The restored database did not wait for the payment gateway.');
    await db.query('UPDATE incarnations SET is_synchronous = true WHERE opened_at IS NULL');
    // Loaded only here: other commands do not need the service and start faster without it.
    const { startSimulator } = await import('../runtime/index.ts');
    const bank = await startSimulator(scratch, progress);
    const gateway = createHttpGateway({ ...bank, clock });
    const alarms = createAlarms({ db, clock, log: silent });
    const references = createReferenceSealer(createKeyring([randomBytes(32).toString('hex')]));
    try {
      const heartbeat = { instance: 0 };
      await recoverRound({ db, clock, gateway, alarms, references, heartbeat, log: silent });
    } finally {
      await gateway.close();
      await bank.close();
    }
    if (await findRecovering(db))
      throw new OperatorError('The restored database does not match the payment gateway.');
    return `read orders since ${before.certainAt.toISOString()}; payments are accepted (a service waits 20 s for late orders)`;
  },
};

export const drillCommand = (command: MakeCommand<Terminal>) =>
  command(
    'drill',
    'back up, restore, verify and open in a temporary folder, and time each step',
    drill,
  ).option('--from <dir>', 'use the newest backup in this folder or bucket instead of creating one');

async function drill(terminal: Terminal, { from }: { from?: string }) {
  const settings = loadSettings(terminal.env);
  const steps = { ...(from === undefined ? backupStep : {}), ...restoreSteps, ...openStep };
  const store = from === undefined ? undefined : backupStore(from, settings, '--from');
  return rehearse(steps, { settings, from: store, backupId: undefined, progress: progressOn(terminal) });
}
