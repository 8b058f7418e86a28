/**
 * Reads cases from a list of plain text:
 *
 *     title
 *       + statements that make it so
 *       - those that undo it
 *       = what is expected, a line for each
 */
export function readCases(list: string): [title: string, change: string, undo: string, expected: string[]][] {
  const cases: ReturnType<typeof readCases> = [];
  for (const line of list.trim().split('\n')) {
    const [sign, text] = [line.slice(0, 4), line.slice(4)];
    const last = cases.at(-1);
    if (sign === '  + ') last![1] += `${text}\n`;
    else if (sign === '  - ') last![2] += `${text}\n`;
    else if (sign === '  = ') last![3].push(text);
    else cases.push([line, '', '', []]);
  }
  return cases;
}
