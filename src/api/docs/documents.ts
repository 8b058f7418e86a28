import { posix } from 'node:path';
import type { Language } from './locale.ts';

/** The documents of the repository that are pages here, besides the guides. */
const pathOfFile = new Map([
  ['docs/guides/README.md', '/docs/guides/'],
  ['sdk/README.md', '/docs/library'],
  ['sdk-python/README.md', '/docs/library-python'],
  ['sdk-php/README.md', '/docs/library-php'],
  ['sdk-cli/README.md', '/docs/cli'],
  ['docs/reference/api-changelog.md', '/docs/changelog'],
]);

/** Where a document is in a language: `docs/guides/ru/webhooks.md`, but `sdk/README.ru.md`, since its folder has code. */
export function fileIn(file: string, language: Language): string {
  if (language === 'en') return file;
  const { dir, name, ext } = posix.parse(file);
  return dir.startsWith('sdk') ? `${dir}/${name}.${language}${ext}` : `${dir}/${language}/${name}${ext}`;
}

/** The page of a document, the same in every language; undefined if it is none. */
export function pageOfFile(file: string): string | undefined {
  const inEnglish = file.replace(/^(docs\/\w+)\/ru\//, '$1/').replace(/\.ru\.md$/, '.md');
  const known = pathOfFile.get(inEnglish);
  return (
    known ??
    (/^docs\/guides\/[\w-]+\.md$/.test(inEnglish) ? `/${inEnglish.slice(0, -'.md'.length)}` : undefined)
  );
}
