import { Command } from 'commander';
import { listenCommand } from './listen.ts';
import { partnerPaymentCommands } from './partner-payments.ts';
import { partnerWebhookCommands } from './partner-webhooks.ts';
import { commandsOn, runProgram, type Terminal } from './terminal.ts';
import { triggerCommand } from './trigger.ts';

/** `kopeck-cli`: what partners use without a checkout. Its commands call the service over HTTP; none opens a database. */
export function createPartnerProgram(terminal: Terminal, version: string): Command {
  const command = commandsOn(terminal);
  return new Command('kopeck-cli')
    .description('Tools for partners of Kopeck. Set KOPECK_URL and KOPECK_KEY, or use --url and --key.')
    .version(version, '-V, --version', 'print the version')
    .helpCommand(false)
    .addCommand(listenCommand())
    .addCommand(triggerCommand(command))
    .addCommand(partnerPaymentCommands(command))
    .addCommand(partnerWebhookCommands(command));
}

/** Runs one command and sets the terminal's exit code. */
export const runPartnerProgram = (args: string[], terminal: Terminal, version: string) =>
  runProgram(createPartnerProgram(terminal, version), args, terminal);
