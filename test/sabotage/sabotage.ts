/** A guard, the edit that removes it, and the test that must fail without it. */
export interface Sabotage {
  guard: string;
  file: string;
  /** `…` stands for any text. It is replaced by `to`; without it, `to` is added at the end of the file. */
  from: string;
  to: string;
  test: string;
  /** The title of a failing test starts with this. */
  failingTitle: string;
}

/** The text of the file without the guard. */
export function removeGuard(text: string, { file, from, to }: Sabotage): string {
  if (!from) return `${text}\n${to}\n`;
  const parts = from.split('…').map(part => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const pattern = new RegExp(parts.join('[^]*?'));
  if (!pattern.test(text))
    throw new Error(`${file} does not contain "${from}": correct it in test/sabotage/`);
  return text.replace(pattern, () => to);
}
