import { Command, CommanderError } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { alarmCommands } from './alarm.ts';
import { maintenanceCommands, recipientCommands } from './controls.ts';
import { demoCommand } from './demo.ts';
import { keyCommands } from './key.ts';
import { listenCommand } from './listen.ts';
import { balanceCommands, ledgerCommands } from './money.ts';
import { operatorCommands } from './operator.ts';
import { partnerCommands } from './partner.ts';
import { paymentCommands } from './payment.ts';
import { rateCommands } from './rate.ts';
import { reconcileCommand } from './reconcile.ts';
import { RefusedError } from './refused.ts';
import { triggerCommand } from './trigger.ts';
import { webhookCommands } from './webhook.ts';

/** Exit codes: 0 done, 1 refused or failed with a line that says why, 2 called the wrong way. */
const exitCode = { refused: 1, wrongCall: 2 };

const program = new Command('kopeck')
  .description('Kopeck pays SBP QR codes in rubles from a balance in USDT.')
  .helpCommand(false)
  .addCommand(
    new Command('start').description('run the service until it is told to stop').action(async () => {
      // Only who starts the service waits for its web server to be loaded.
      const { runService } = await import('../main.ts');
      await runService(line => process.stdout.write(`${line}\n`));
    }),
  )
  .addCommand(partnerCommands())
  .addCommand(keyCommands())
  .addCommand(balanceCommands())
  .addCommand(paymentCommands())
  .addCommand(webhookCommands())
  .addCommand(recipientCommands())
  .addCommand(maintenanceCommands())
  .addCommand(rateCommands())
  .addCommand(ledgerCommands())
  .addCommand(reconcileCommand())
  .addCommand(alarmCommands())
  .addCommand(listenCommand())
  .addCommand(triggerCommand())
  .addCommand(demoCommand())
  .addCommand(operatorCommands());

const asJson = process.argv.includes('--json');

/** One line for people, one object for machines. */
const complain = (code: string, message: string) =>
  console.error(asJson ? JSON.stringify({ error: { code, message } }) : message);

function settle(command: Command): void {
  command.exitOverride().configureOutput({
    outputError: text => complain('wrong_call', asJson ? text.replace(/^error: /, '').trim() : text.trim()),
  });
  command.commands.forEach(settle);
}

function report(error: unknown): void {
  if (error instanceof CommanderError) {
    // Commander has printed it; only a request for help ends well.
    process.exitCode = error.exitCode === 0 ? 0 : exitCode.wrongCall;
    return;
  }
  process.exitCode = exitCode.refused;
  if (error instanceof RefusedError) complain(error.code, error.message);
  else if (error instanceof OperatorError) complain('not_possible', error.message);
  else console.error(error);
}

// Whoever reads our output may have seen enough; that is not an error.
process.stdout.on('error', () => {});
settle(program);
await program.parseAsync().catch(report);
