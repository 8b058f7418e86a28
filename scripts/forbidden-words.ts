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

/** Joins the parts of a split identifier: `bankOrder` and `bank_order` become `bank·Order` and `bank·order`. */
const joint = '·';

const splitIdentifiers = (text: string) =>
  text.replace(/([a-z0-9])([A-Z])/g, `$1${joint}$2`).replaceAll(/(?<=\w)[_-](?=\w)/g, joint);

/**
 * A word in camelCase, or a name with underscores, is searched for as it stands: "look at" in a sentence is plain
 * English. Any other word or phrase is found in prose and among the parts of identifiers, but not across both:
 * `run outFlow` is not "run out".
 */
function patternOf(word: string): RegExp {
  if (/[a-z][A-Z]|_/.test(word)) {
    const [first = '', ...letters] = splitIdentifiers(word);
    const rest = letters.join('');
    return new RegExp(`(?<![A-Za-z])[${first.toLowerCase()}${first.toUpperCase()}]${rest}(?![A-Za-z])`);
  }
  const parts = word.split(' ');
  const inProse = `(?<![\\w${joint}])${parts.join('\\s+')}s?(?![\\w${joint}])`;
  const inIdentifier = `(?<![A-Za-z])${parts.join(joint)}s?(?![A-Za-z])`;
  return new RegExp(`${inProse}|${inIdentifier}`, 'i');
}

/** The forbidden words in one line of a file, or in its path. */
export function findForbidden(line: string, words: ForbiddenWord[]): ForbiddenWord[] {
  const split = splitIdentifiers(line);
  return words.filter(({ pattern, allowed }) => {
    if (!pattern.test(split)) return false;
    return pattern.test(
      splitIdentifiers(allowed.reduce((text, phrase) => text.replaceAll(phrase, ' '), line)),
    );
  });
}
