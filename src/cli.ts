#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { OperatorError } from './base/operator-error.ts';
import { maintenanceCommands, recipientCommands } from './cli/controls.ts';
import { keyCommands } from './cli/key.ts';
import { balanceCommands, ledgerCommands } from './cli/money.ts';
import { partnerCommands } from './cli/partner.ts';
import { rateCommands } from './cli/rate.ts';
import { RefusedError } from './cli/refused.ts';
import { runService } from './main.ts';

/** Exit codes: 0 done, 1 refused or failed with a line that says why, 2 called the wrong way. */
const exitCode = { refused: 1, wrongCall: 2 };

const program = new Command('kopeck')
  .description('Kopeck pays SBP QR codes in rubles from a balance in USDT.')
  .helpCommand(false)
  .addCommand(
    new Command('start')
      .description('run the service until it is told to stop')
      .action(() => runService(line => process.stdout.write(`${line}\n`))),
  )
  .addCommand(partnerCommands())
  .addCommand(keyCommands())
  .addCommand(balanceCommands())
  .addCommand(recipientCommands())
  .addCommand(maintenanceCommands())
  .addCommand(rateCommands())
  .addCommand(ledgerCommands());

function overrideExits(command: Command): void {
  command.exitOverride();
  command.commands.forEach(overrideExits);
}

function report(error: unknown): void {
  if (error instanceof CommanderError) {
    // Commander has printed it; only a request for help ends well.
    process.exitCode = error.exitCode === 0 ? 0 : exitCode.wrongCall;
    return;
  }
  process.exitCode = exitCode.refused;
  if (!(error instanceof RefusedError || error instanceof OperatorError)) {
    console.error(error);
    return;
  }
  const code = error instanceof RefusedError ? error.code : 'not_possible';
  const asJson = process.argv.includes('--json');
  console.error(asJson ? JSON.stringify({ error: { code, message: error.message } }) : error.message);
}

overrideExits(program);
await program.parseAsync().catch(report);
