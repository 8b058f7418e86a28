/** A guard, the edit that removes it, and the test that must fail without it. */
export interface Sabotage {
  guard: string;
  file: string;
  /** Replaced by `replacement`, or by nothing. Without a pattern, `replacement` is added at the end of the file. */
  pattern?: RegExp;
  replacement?: string;
  test: string;
  /** The title of a failing test starts with this. */
  failingTitle: string;
}

/** The text of the file without the guard. */
export function removeGuard(text: string, { file, pattern, replacement = '' }: Sabotage): string {
  if (!pattern) return `${text}\n${replacement}\n`;
  if (!pattern.test(text))
    throw new Error(`${file} does not contain ${pattern}: correct the pattern in test/sabotage/`);
  return text.replace(pattern, replacement);
}
