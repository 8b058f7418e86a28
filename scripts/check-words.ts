/** Fails where a file or its name uses a word that docs/glossary.md forbids; prints the word to use instead. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findForbidden, readForbiddenWords } from './forbidden-words.ts';
import { listTextFiles, root } from './tracked-files.ts';

const glossary = 'docs/glossary.md';
const words = readForbiddenWords(readFileSync(join(root, glossary), 'utf8'));
if (words.length === 0) throw new Error(`${glossary} has no table of words`);

const findings = listTextFiles()
  .filter(path => path !== glossary)
  .flatMap(path => {
    const lines = readFileSync(join(root, path), 'utf8').split('\n');
    const inName = findForbidden(path, words).map(found => ({ place: path, found }));
    const inText = lines.flatMap((line, index) =>
      findForbidden(line, words).map(found => ({ place: `${path}:${index + 1}`, found })),
    );
    return [...inName, ...inText];
  });

for (const { place, found } of findings)
  console.error(`${place}  "${found.word}"  instead: ${found.instead}`);
if (findings.length > 0) {
  console.error(`${findings.length} forbidden words; the table is in ${glossary}`);
  process.exitCode = 1;
}
