import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { demoMinutes, demoPayments } from './arguments.ts';
import { type Context, commandsWithDatabase, commandsWithoutKeys, type Terminal } from './command.ts';
import { addExamples } from './examples.ts';
import { commandsOn, runProgram } from './terminal.ts';

const packageFile = join(import.meta.dirname, '..', '..', 'package.json');
const readVersion = (): string => JSON.parse(readFileSync(packageFile, 'utf8')).version;

/** What makes commands, by what they work with. */
const makersOn = (terminal: Terminal) => ({
  terminal,
  withDatabase: commandsWithDatabase(terminal),
  withoutDatabase: commandsOn(terminal),
  withoutKeys: commandsWithoutKeys(terminal),
});

type MakeOne = (makers: ReturnType<typeof makersOn>) => Promise<Command>;

/** By their first word, in the order of the help. Each loads its own files: those of all are 450, which take twice the time of most commands. */
const commands: Record<string, MakeOne> = {
  start: async () =>
    new Command('start')
      .description('start the service')
      .option(
        '--restored',
        'the database was restored or copied: first recover lost payments from the gateway',
      )
      .action(async ({ restored = false }: { restored?: boolean }) => {
        const { runService } = await import('../runtime/index.ts');
        await runService(line => process.stdout.write(`${line}\n`), { isRestored: restored });
      }),
  doctor: async ({ withoutDatabase }) => (await import('./doctor/doctor.ts')).doctorCommand(withoutDatabase),
  migrate: async ({ withoutDatabase }) => (await import('./migrate.ts')).migrateCommand(withoutDatabase),
  partner: async ({ withDatabase }) => (await import('./partner.ts')).partnerCommands(withDatabase),
  key: async ({ withDatabase }) => (await import('./key.ts')).keyCommands(withDatabase),
  balance: async ({ withDatabase }) => (await import('./money.ts')).balanceCommands(withDatabase),
  deposit: async ({ withDatabase }) => (await import('./deposit.ts')).depositCommands(withDatabase),
  payment: async ({ withDatabase }) => (await import('./payment.ts')).paymentCommands(withDatabase),
  webhook: async ({ withDatabase }) => (await import('./webhook.ts')).webhookCommands(withDatabase),
  request: async ({ withDatabase }) => (await import('./request.ts')).requestCommands(withDatabase),
  recipient: async ({ withDatabase }) => (await import('./controls.ts')).recipientCommands(withDatabase),
  maintenance: async ({ withDatabase }) => (await import('./controls.ts')).maintenanceCommands(withDatabase),
  rate: async ({ withDatabase }) => (await import('./rate.ts')).rateCommands(withDatabase),
  ledger: async ({ withDatabase }) => (await import('./money.ts')).ledgerCommands(withDatabase),
  reconcile: async ({ withDatabase }) => (await import('./gateway-books.ts')).reconcileCommand(withDatabase),
  refund: async ({ withDatabase }) => (await import('./gateway-books.ts')).refundCommands(withDatabase),
  gateway: async ({ withoutDatabase }) => (await import('./gateway.ts')).gatewayCommands(withoutDatabase),
  recovery: async ({ withDatabase }) => (await import('./recovery.ts')).recoveryCommands(withDatabase),
  archive: async ({ withDatabase }) => (await import('./archive.ts')).archiveCommands(withDatabase),
  backup: async ({ withoutKeys, withoutDatabase }) =>
    (await import('./backup.ts')).backupCommands(withoutKeys, withoutDatabase),
  restore: async ({ withoutDatabase }) => (await import('./backup.ts')).restoreCommand(withoutDatabase),
  drill: async ({ withoutDatabase }) => (await import('./rehearsal.ts')).drillCommand(withoutDatabase),
  'archive-wal': async ({ terminal }) => (await import('./wal.ts')).archiveWalCommand(terminal),
  'restore-wal': async ({ terminal }) => (await import('./wal.ts')).restoreWalCommand(terminal),
  alarm: async ({ withDatabase }) => (await import('./alarm.ts')).alarmCommands(withDatabase),
  listen: async () => (await import('./listen.ts')).listenCommand(),
  trigger: async ({ withoutDatabase }) => (await import('./trigger.ts')).triggerCommand(withoutDatabase),
  demo: async ({ withDatabase }) =>
    withDatabase('demo', 'fill the console with demo payments through the simulator', runDemo)
      .option('--payments <count>', 'number of payments, up to 10000', demoPayments, 500)
      .option('--minutes <count>', 'minutes to spread them over (0: as fast as possible)', demoMinutes, 0),
  operator: async ({ withDatabase }) => (await import('./operator.ts')).operatorCommands(withDatabase),
  secret: async ({ withDatabase }) => (await import('./secret.ts')).secretCommands(withDatabase),
  audit: async ({ withDatabase }) => (await import('./audit.ts')).auditCommands(withDatabase),
  completion: async ({ terminal }) => (await import('./completion.ts')).completionCommand(terminal),
};

/**
 * The command line, exported so that a test can compare it with its reference: with the command of this name alone, or whole if there is
 * none of this name.
 */
export async function createProgram(terminal: Terminal, name = ''): Promise<Command> {
  const isOne = Object.hasOwn(commands, name) && name !== 'completion';
  const makers = makersOn(terminal);
  const program = new Command('kopeck')
    .description('Kopeck pays SBP QR codes in rubles and debits a USDT balance.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpCommand(false);
  for (const make of isOne ? [commands[name]!] : Object.values(commands))
    program.addCommand(await make(makers));
  addExamples(program);
  return program;
}

const runDemo = async (context: Context, { payments, minutes }: { payments: number; minutes: number }) =>
  (await import('./demo-run.ts')).demonstrate(context, payments, minutes * 60_000);

/** Runs one command and sets the terminal's exit code. */
export const run = async (args: string[], terminal: Terminal) =>
  runProgram(await createProgram(terminal, args[0]), args, terminal);
