import { Command } from 'commander';
import type { Output, Screen } from './output.ts';

/** 0: done; 1: refused, failed or a check found problems, with one line that says why; 2: wrong usage. */
export const exitCode = { refused: 1, wrongCall: 2 };

/** The part of `process` that commands use, so that tests can replace it. */
export interface Terminal {
  env: NodeJS.ProcessEnv;
  stdout: Screen;
  stderr: Screen;
  stdin?: AsyncIterable<string | Buffer> & { isTTY?: boolean };
  exitCode?: typeof process.exitCode;
}

export function printOutput(
  terminal: Terminal,
  asJson: boolean,
  { json, text, isBad = false }: Output,
): void {
  terminal.stdout.write(`${asJson ? JSON.stringify(json, null, 2) : text}\n`);
  if (isBad) terminal.exitCode = exitCode.refused;
}

/** A command with the common options; its arguments follow its name, as in `show <partner>`. */
export function command(usage: string, description: string): Command {
  const [name, ...parameters] = usage.split(' ');
  const result = new Command(name).description(description).option('--json', 'print JSON');
  for (const parameter of parameters) result.argument(parameter);
  return result;
}
