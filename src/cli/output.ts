import { systemClock } from '../base/clock.ts';
/** The output of a command: JSON for programs, text for people. */
export interface Output {
  /** Undefined: the text is for programs too. */
  json: unknown;
  text: string;
  /** The command ran and found problems: the exit code is 1. */
  isBad?: boolean;
}

export function table(headers: string[], rows: string[][]): string {
  if (rows.length === 0) return '(none)';
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

/** Names on the left, values on the right; for a single object. */
export function details(pairs: [string, string][]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}

export const formatInstant = (instant: Date | null) =>
  instant ? instant.toISOString().replace('T', ' ').slice(0, 19) : 'never';

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
  inUnits: (count: number) => number,
  unit: string,
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
