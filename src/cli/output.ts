import { systemClock } from '../base/clock.ts';
import { programName } from '../base/program-name.ts';

/** The output of a command: JSON for programs, text for people. */
export interface Output {
  /** Undefined: the text is for programs too. */
  json: unknown;
  text: string;
  /** The command ran and found problems: the exit code is 1. */
  isBad?: boolean;
}

type Cell = string | number | bigint | Date;

export const formatInstant = (instant: Date | null) =>
  instant ? instant.toISOString().replace('T', ' ').slice(0, 19) : 'never';

const textOf = (cell: Cell) => (cell instanceof Date ? formatInstant(cell) : `${cell}`);

/** A row for each item. The names of its fields are the headers. */
export function table<Item>(items: Item[], rowOf: (item: Item, nth: number) => Record<string, Cell>): string {
  if (items.length === 0) return '(none)';
  const objects = items.map(rowOf);
  const headers = Object.keys(objects[0]!);
  const rows = objects.map(object => headers.map(header => textOf(object[header]!)));
  const widths = headers.map((header, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]!.length), header.length),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return [line(headers), line(widths.map(width => '─'.repeat(width))), ...rows.map(line)].join('\n');
}

/** What the columns of a list show: a field of its objects, or what is made of one. */
type Columns<One> = Record<string, keyof One | ((one: One) => Cell)>;

/** A list, which is in this field of the JSON, as a table. A time is a column whose header ends with `(UTC)`. */
export function listing<Json extends object, Name extends keyof Json>(
  json: Json,
  name: Name,
  columns: Columns<Json[Name] extends (infer One)[] ? One : never>,
): Output {
  type One = Record<string, string | string[] | null>;
  const cellOf = (one: One, header: string, column: string | ((one: One) => Cell)): Cell => {
    if (typeof column === 'function') return column(one);
    const value = [one[column] ?? []].flat().join(', ');
    return header.endsWith('(UTC)') ? formatInstant(value ? new Date(value) : null) : value;
  };
  const text = table(json[name] as One[], one =>
    Object.fromEntries(
      Object.entries(columns as Columns<One>).map(([header, column]) => [
        header,
        cellOf(one, header, column),
      ]),
    ),
  );
  return { json, text };
}

/** For a single object: names on the left, values on the right, a line for each of several. Without a value there is no line. */
export function details(object: Record<string, Cell | Cell[] | null | undefined>): string {
  const lines = Object.entries(object).flatMap(([name, value]) =>
    [value ?? []].flat().map(cell => [name, textOf(cell)] as const),
  );
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join('\n');
}

const barWidth = 30;

export function bar(done: number, of: number, unit = ''): string {
  const filled = Math.round((barWidth * done) / Math.max(of, done, 1));
  return `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${done} of ${of}${unit && ` ${unit}`}`;
}

/** The part of a stream that commands use. */
export interface Screen {
  write(text: string): unknown;
  isTTY?: boolean;
}

/** On a terminal the bar is redrawn in place; elsewhere it prints a line per 10%. */
export function progressBar(of: number, out: Screen, unit = ''): (done: number) => void {
  let shown = 0;
  return done => {
    const isDue = out.isTTY || done === of || done - shown >= of / 10;
    if (!isDue) return;
    shown = done;
    const end = out.isTTY && done < of ? '' : '\n';
    out.write(`${out.isTTY ? '\r' : ''}${bar(done, of, unit)}${end}`);
  };
}

/** A bar that appears after two seconds; what is done is counted in larger units, such as MB. */
export function lateProgressBar(
  out: Screen,
  unit = '',
  inUnits = (count: number) => count,
): (done: number, of: number) => void {
  const startedAt = systemClock.monotonicMs();
  let show: ((done: number) => void) | undefined;
  let shown = -1;
  return (done, of) => {
    if (systemClock.monotonicMs() - startedAt < 2_000) return;
    show ??= progressBar(inUnits(of), out, unit);
    if (inUnits(done) === shown) return;
    shown = inUnits(done);
    show(shown);
  };
}

/** A command that is valid but refused: one line for people, a stable code for programs, exit code 1. */
export class RefusedError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export function refuse(code: string, message: string): never {
  throw new RefusedError(code, message);
}

export const noSuchPartner = (partner: string) =>
  new RefusedError('no_partner', `There is no partner ${partner}: see ${programName} partner list.`);

/** Lines that say what a command does at the moment: they appear after two seconds. */
export function lateLines(print: (line: string) => void): (line: string) => void {
  const startedAt = systemClock.monotonicMs();
  return line => {
    if (systemClock.monotonicMs() - startedAt > 2_000) print(line);
  };
}
