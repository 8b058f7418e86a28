import { readFileSync } from 'node:fs';

export const signaturesFile = new URL('signatures.txt', import.meta.url);

/** Every signature that was ever committed, by the name of the function or composite type. */
export function releasedSignatures(): Map<string, string> {
  const lines = readFileSync(signaturesFile, 'utf8').split('\n').filter(Boolean);
  return new Map(lines.map(line => [/^\w+/.exec(line)![0], line]));
}

/** One message for each name that no longer means what it was released with. */
export const changedSignatures = (
  signatures: { name: string; line: string }[],
  released: Map<string, string>,
) =>
  signatures
    .filter(({ name, line }) => released.has(name) && released.get(name) !== line)
    .map(({ name, line }) => `${name} was released as\n  ${released.get(name)}\nand is now\n  ${line}`);
