import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../docs/runbooks');

/** The pages for the alerts, without their index. */
export const runbookNames = readdirSync(folder)
  .filter(name => name !== 'README.md')
  .map(name => name.replace(/\.md$/, ''));

export const readRunbook = (name: string) => readFileSync(join(folder, `${name}.md`), 'utf8');

/** The blocks of a page in this language, without the indentation of the list that they are in. */
export const blocksOf = (name: string, language: string) =>
  Array.from(
    readRunbook(name).matchAll(/^( *)```(\w+)\n([\s\S]*?)^\1```$/gm),
    ([, indentation, found, code]) => ({
      found,
      code: code!.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
    }),
  )
    .filter(({ found }) => found === language)
    .map(({ code }) => code);

/** What is in backticks, on one line. */
export const codeSpansOf = (name: string) =>
  Array.from(
    readRunbook(name)
      .replaceAll(/^ *```[\s\S]*?```$/gm, '')
      .matchAll(/`([^`]+)`/g),
    ([, code]) => code!.replaceAll(/\s+/g, ' '),
  );

export const statementsOf = (block: string) =>
  block
    .split(/;\n/)
    .map(text => text.trim())
    .filter(text => text !== '');
