import { inspect } from 'node:util';
import { type Command, CommanderError } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { RefusedError } from './refused.ts';
import { exitCode, type Terminal } from './terminal.ts';

/** Runs one command and sets the terminal's exit code. */
export async function runProgram(program: Command, args: string[], terminal: Terminal): Promise<void> {
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

  configure(program);
  await program.parseAsync(args, { from: 'user' }).catch(report);
}
