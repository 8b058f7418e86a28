import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { languageOf, localPath } from '../../src/api/docs/locale.ts';

const code = readFileSync(join(import.meta.dirname, '../../src/api/docs/assets/first.js'), 'utf8');

interface Reader {
  path: string;
  /** What the browser has kept. */
  kept: Record<string, string>;
  /** Whether the page exists in other languages. */
  hasAlternates?: boolean;
}

/** What the script does before a page is shown: where it leads, and the colours. */
function open({ path, kept, hasAlternates = true }: Reader) {
  const { pathname, search, hash } = new URL(path, 'https://pay.example.com');
  const inEnglish = pathname.replace(/ru\/$/, '');
  const dataset: Record<string, string> = {};
  let target: string | undefined;
  runInNewContext(code, {
    URL,
    CSS: { escape: (text: string) => text },
    localStorage: { getItem: (name: string) => kept[name] ?? null },
    location: { pathname, search, hash, replace: (to: string) => (target = to) },
    document: {
      documentElement: { lang: languageOf(pathname), classList: { add() {} }, dataset },
      querySelector(selector: string) {
        const language = /hreflang="(\w+)"/.exec(selector)?.[1];
        if (!hasAlternates || (language !== 'en' && language !== 'ru')) return null;
        return { href: `https://pay.example.com${localPath(inEnglish, language)}` };
      },
    },
  });
  return { target, theme: dataset.theme };
}

const chosen = (language: string) => ({ 'kopeck-docs-site-language': language });

test.each([
  ['/', 'ru', '/ru/'],
  ['/docs/?from=mail#in-short', 'ru', '/docs/ru/?from=mail#in-short'],
  ['/ru/', 'en', '/'],
  ['/docs/ru/', 'en', '/docs/'],
])('%s for a reader who chose %s leads to %s', (path, language, target) => {
  expect(open({ path, kept: chosen(language) }).target).toBe(target);
});

test.each([
  ['the language that was chosen', { path: '/docs/ru/', kept: chosen('ru') }],
  ['any language, if none was chosen', { path: '/docs/', kept: {} }],
  ['a page inside, which somebody may have linked', { path: '/docs/guides/webhooks', kept: chosen('ru') }],
  ['a language that does not exist', { path: '/docs/', kept: chosen('xx') }],
  ['a page in one language', { path: '/docs/', kept: chosen('ru'), hasAlternates: false }],
])('stays: %s', (_name, reader: Reader) => {
  expect(open(reader).target).toBeUndefined();
});

test('the colours that the reader chose are there at once', () => {
  expect(open({ path: '/docs/', kept: { 'kopeck-docs-theme': 'dark' } }).theme).toBe('dark');
  expect(open({ path: '/docs/', kept: {} }).theme).toBeUndefined();
});
