import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { alarmCommands } from './alarm.ts';
import { archiveCommands } from './archive.ts';
import { demoMinutes, demoPayments } from './arguments.ts';
import { auditCommands } from './audit.ts';
import { backupCommands, restoreCommand } from './backup.ts';
import { type Context, commandsWithDatabase, commandsWithoutKeys, type Terminal } from './command.ts';
import { completionCommand } from './completion.ts';
import { maintenanceCommands, recipientCommands } from './controls.ts';
import { depositCommands } from './deposit.ts';
import { doctorCommand } from './doctor/doctor.ts';
import { addExamples } from './examples.ts';
import { gatewayCommands } from './gateway.ts';
import { reconcileCommand, refundCommands } from './gateway-books.ts';
import { keyCommands } from './key.ts';
import { listenCommand } from './listen.ts';
import { migrateCommand } from './migrate.ts';
import { balanceCommands, ledgerCommands } from './money.ts';
import { operatorCommands } from './operator.ts';
import { partnerCommands } from './partner.ts';
import { paymentCommands } from './payment.ts';
import { rateCommands } from './rate.ts';
import { recoveryCommands } from './recovery.ts';
import { drillCommand } from './rehearsal.ts';
import { requestCommands } from './request.ts';
import { secretCommands } from './secret.ts';
import { commandsOn, runProgram } from './terminal.ts';
import { triggerCommand } from './trigger.ts';
import { archiveWalCommand, restoreWalCommand } from './wal.ts';
import { webhookCommands } from './webhook.ts';

const packageFile = join(import.meta.dirname, '..', '..', 'package.json');
const readVersion = (): string => JSON.parse(readFileSync(packageFile, 'utf8')).version;

/** The whole command line; exported so that a test can compare it with its reference. */
export function createProgram(terminal: Terminal): Command {
  const withDatabase = commandsWithDatabase(terminal);
  const withoutDatabase = commandsOn(terminal);
  const program = new Command('kopeck')
    .description('Kopeck pays SBP QR codes in rubles and debits a USDT balance.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpCommand(false)
    .addCommand(
      new Command('start')
        .description('start the service')
        .option(
          '--restored',
          'the database was restored or copied: first recover lost payments from the gateway',
        )
        .action(async ({ restored = false }: { restored?: boolean }) => {
          // Loaded only here: other commands do not need the web server and start faster without it.
          const { runService } = await import('../runtime/index.ts');
          await runService(line => process.stdout.write(`${line}\n`), { isRestored: restored });
        }),
    )
    .addCommand(doctorCommand(withoutDatabase))
    .addCommand(migrateCommand(withoutDatabase))
    .addCommand(partnerCommands(withDatabase))
    .addCommand(keyCommands(withDatabase))
    .addCommand(balanceCommands(withDatabase))
    .addCommand(depositCommands(withDatabase))
    .addCommand(paymentCommands(withDatabase))
    .addCommand(webhookCommands(withDatabase))
    .addCommand(requestCommands(withDatabase))
    .addCommand(recipientCommands(withDatabase))
    .addCommand(maintenanceCommands(withDatabase))
    .addCommand(rateCommands(withDatabase))
    .addCommand(ledgerCommands(withDatabase))
    .addCommand(reconcileCommand(withDatabase))
    .addCommand(refundCommands(withDatabase))
    .addCommand(gatewayCommands(withoutDatabase))
    .addCommand(recoveryCommands(withDatabase))
    .addCommand(archiveCommands(withDatabase))
    .addCommand(backupCommands(commandsWithoutKeys(terminal), withoutDatabase))
    .addCommand(restoreCommand(withoutDatabase))
    .addCommand(drillCommand(withoutDatabase))
    .addCommand(archiveWalCommand(terminal))
    .addCommand(restoreWalCommand(terminal))
    .addCommand(alarmCommands(withDatabase))
    .addCommand(listenCommand())
    .addCommand(triggerCommand(withoutDatabase))
    .addCommand(
      withDatabase('demo', 'fill the console with demo payments through the simulator', runDemo)
        .option('--payments <count>', 'number of payments, up to 10000', demoPayments, 500)
        .option('--minutes <count>', 'minutes to spread them over (0: as fast as possible)', demoMinutes, 0),
    )
    .addCommand(operatorCommands(withDatabase))
    .addCommand(secretCommands(withDatabase))
    .addCommand(auditCommands(withDatabase))
    .addCommand(completionCommand(terminal));
  addExamples(program);
  return program;
}

/** Loaded only here, too. */
const runDemo = async (context: Context, { payments, minutes }: { payments: number; minutes: number }) =>
  (await import('./demo-run.ts')).demonstrate(context, payments, minutes * 60_000);

/** Runs one command and sets the terminal's exit code. */
export const run = (args: string[], terminal: Terminal) =>
  runProgram(createProgram(terminal), args, terminal);
