import { inspect } from 'node:util';
import { Command, CommanderError, Option } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { type Output, RefusedError, type Screen } from './output.ts';

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

/** For commands that take longer than two seconds: prints to stderr, not into the output. */
export const progressOn =
  ({ stderr }: Terminal) =>
  (line: string) =>
    void stderr.write(`${line}\n`);

/** A command with the common options; its arguments follow its name, as in `show <partner>`. */
export function command(usage: string, description: string): Command {
  const [name, ...parameters] = usage.split(' ');
  const result = new Command(name).description(description).option('--json', 'print JSON');
  for (const parameter of parameters) result.argument(parameter);
  return result;
}

/** Commands with a common first word. Without a second word it is the default one, if there is one. */
export function group(name: string, description: string, commands: Command[], byDefault?: string): Command {
  const result = new Command(name).description(description);
  for (const one of commands) result.addCommand(one, { isDefault: one.name() === byDefault });
  return result;
}

/** For the hook before the action of a command that needs one of two options. */
export const either = (one: string, other: string, message: string) => (self: Command) => {
  const { [one]: first, [other]: second } = self.opts();
  if ((first === undefined) === (second === undefined)) self.error(`error: ${message}`);
};

/** An option that must be given and has one of these values. */
export const choice = (flags: string, description: string, values: readonly string[]) =>
  new Option(flags, description).choices(values).makeOptionMandatory();

/**
 * What a command does: gets what it works with, its arguments and its options, and returns what is printed. --json is not
 * among the options: it only decides how that is printed.
 */
export type Work<With> = (works: With, ...given: never[]) => Promise<Output>;

/** Commander passes the arguments, the options and the command. */
export async function workAndPrint<With>(
  terminal: Terminal,
  work: Work<With>,
  works: With,
  given: unknown[],
): Promise<void> {
  const { json: asJson, ...options } = (given.at(-1) as Command).opts();
  const output = await work(works, ...([...given.slice(0, -2), options] as never[]));
  const text = asJson && output.json !== undefined ? JSON.stringify(output.json, null, 2) : output.text;
  terminal.stdout.write(`${text}\n`);
  if (output.isBad) terminal.exitCode = exitCode.refused;
}

/** Makes commands that all get the same to work with. */
export type MakeCommand<With> = (usage: string, description: string, work: Work<With>) => Command;

/** Commands without a database. */
export const commandsOn =
  (terminal: Terminal): MakeCommand<Terminal> =>
  (usage, description, work) =>
    command(usage, description).action((...given) => workAndPrint(terminal, work, terminal, given));

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
