/** One code span of the table "Words we do not use" in docs/glossary.md. */
export interface ForbiddenWord {
  word: string;
  instead: string;
  pattern: RegExp;
  /** Phrases in which the word is fine. */
  allowed: string[];
}

/** Reads the table, so that the words stand in one place, where people read them too. */
export function readForbiddenWords(glossary: string): ForbiddenWord[] {
  const section = glossary.split(/^## /m).find(part => part.startsWith('Words we do not use')) ?? '';
  const rows = section.split('\n').filter(line => line.startsWith('| `'));
  return rows.flatMap(row => {
    const [, words = '', instead = '', allowed = ''] = row.split('|').map(cell => cell.trim());
    return codeSpans(words).map(word => ({
      word,
      instead,
      pattern: patternOf(word),
      allowed: codeSpans(allowed),
    }));
  });
}

const codeSpans = (cell: string) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, text]) => text!);

/** Patterns for text in which identifiers have been split: `bankOrder` is `bank Order` there, `bank_order` is `bank order`. */
function patternOf(word: string): RegExp {
  const isIdentifier = /[a-z][A-Z]|_/.test(word);
  const parts = splitIdentifiers(word).split(/\s+/);
  // An identifier is looked for in the text as it is: "look at" in a sentence is plain English.
  if (isIdentifier) {
    const [first = '', ...letters] = word;
    const rest = letters.join('');
    return new RegExp(`(?:(?<![A-Za-z])${first.toLowerCase()}|${first.toUpperCase()})${rest}(?![a-z])`);
  }
  return new RegExp(`\\b${parts.join('\\s+')}s?\\b`, 'i');
}

const splitIdentifiers = (text: string) =>
  text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[_-]/g, ' ');

/** The forbidden words in one line of a file, or in its path. */
export function findForbidden(line: string, words: ForbiddenWord[]): ForbiddenWord[] {
  const split = splitIdentifiers(line);
  return words.filter(({ pattern, allowed }) => {
    if (!pattern.test(line) && !pattern.test(split)) return false;
    const rest = allowed.reduce((text, phrase) => text.replaceAll(phrase, ' '), line);
    return pattern.test(rest) || pattern.test(splitIdentifiers(rest));
  });
}
