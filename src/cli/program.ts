import { inspect } from 'node:util';
import { Command, CommanderError } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { alarmCommands } from './alarm.ts';
import { archiveCommand } from './archive.ts';
import { createWithDatabase, exitCode, type Terminal } from './command.ts';
import { demoCommand } from './demo.ts';
import { keyCommands } from './key.ts';
import { listenCommand } from './listen.ts';
import { maintenanceCommands } from './maintenance.ts';
import { balanceCommands, ledgerCommands } from './money.ts';
import { operatorCommands } from './operator.ts';
import { partnerCommands } from './partner.ts';
import { paymentCommands } from './payment.ts';
import { rateCommands } from './rate.ts';
import { recipientCommands } from './recipient.ts';
import { reconcileCommand } from './reconcile.ts';
import { recoveryCommands } from './recovery.ts';
import { RefusedError } from './refused.ts';
import { triggerCommand } from './trigger.ts';
import { webhookCommands } from './webhook.ts';

/** The whole command line; exported so that a test can compare it with its reference. */
export function createProgram(terminal: Terminal): Command {
  const withDatabase = createWithDatabase(terminal);
  return new Command('kopeck')
    .description('Kopeck pays SBP QR codes in rubles from a balance in USDT.')
    .helpCommand(false)
    .addCommand(
      new Command('start')
        .description('run the service until it is stopped')
        .option(
          '--restored',
          'the database was restored or copied: first bring back what the bank side knows',
        )
        .action(async ({ restored = false }: { restored?: boolean }) => {
          // Loaded only here: other commands do not need the web server and start faster without it.
          const { runService } = await import('../runtime/index.ts');
          await runService(line => process.stdout.write(`${line}\n`), { isRestored: restored });
        }),
    )
    .addCommand(partnerCommands(withDatabase))
    .addCommand(keyCommands(withDatabase))
    .addCommand(balanceCommands(withDatabase))
    .addCommand(paymentCommands(withDatabase))
    .addCommand(webhookCommands(withDatabase))
    .addCommand(recipientCommands(withDatabase))
    .addCommand(maintenanceCommands(withDatabase))
    .addCommand(rateCommands(withDatabase))
    .addCommand(ledgerCommands(withDatabase))
    .addCommand(reconcileCommand(withDatabase))
    .addCommand(recoveryCommands(withDatabase))
    .addCommand(archiveCommand(withDatabase))
    .addCommand(alarmCommands(withDatabase))
    .addCommand(listenCommand())
    .addCommand(triggerCommand())
    .addCommand(demoCommand(withDatabase))
    .addCommand(operatorCommands(withDatabase));
}

/** Runs one command and sets the terminal's exit code. */
export async function run(args: string[], terminal: Terminal): Promise<void> {
  const asJson = args.includes('--json');
  const { stdout, stderr } = terminal;

  /** One line for people, one JSON object for programs. */
  const printError = (code: string, message: string) =>
    stderr.write(`${asJson ? JSON.stringify({ error: { code, message } }) : message}\n`);

  function configure(command: Command): void {
    command.exitOverride().configureOutput({
      writeOut: text => stdout.write(text),
      writeErr: text => stderr.write(text),
      outputError: text =>
        printError('wrong_call', asJson ? text.replace(/^error: /, '').trim() : text.trim()),
    });
    command.commands.forEach(configure);
  }

  function report(error: unknown): void {
    if (error instanceof CommanderError) {
      // Commander has printed the message; only a request for help exits with 0.
      terminal.exitCode = error.exitCode === 0 ? 0 : exitCode.wrongCall;
      return;
    }
    terminal.exitCode = exitCode.refused;
    if (error instanceof RefusedError) printError(error.code, error.message);
    else if (error instanceof OperatorError) printError('not_possible', error.message);
    else stderr.write(`${inspect(error)}\n`);
  }

  const program = createProgram(terminal);
  configure(program);
  await program.parseAsync(args, { from: 'user' }).catch(report);
}
