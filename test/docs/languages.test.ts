import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileIn, pageOfFile } from '../../src/api/docs/documents.ts';
import { languageOf, languages, localPath, siteTexts } from '../../src/api/docs/locale.ts';
import { translateDocument } from '../../src/api/docs/reference/translate.ts';
import { referenceInRussian } from '../../src/api/docs/texts/reference.ru.ts';
import { serveDocument } from '../api/openapi-world.ts';
import { crawl, startSite } from './site-world.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const guides = readdirSync(join(root, 'docs/guides')).filter(name => name.endsWith('.md'));
const documents = [
  ...guides.map(name => `docs/guides/${name}`),
  'docs/reference/api-changelog.md',
  ...['sdk', 'sdk-cli', 'sdk-php', 'sdk-python'].map(folder => `${folder}/README.md`),
];

/** What both languages of a document share. */
function shapeOf(text: string) {
  // Every second part is a block of code.
  const parts = text.split('```');
  const prose = parts.filter((_part, index) => index % 2 === 0).join('\n');
  return {
    code: parts.filter((_part, index) => index % 2 === 1),
    headings: Array.from(prose.matchAll(/^(#+) /gm), ([, marks]) => marks),
    /** The cells of each row; a `|` in code does not separate cells. */
    tables: Array.from(
      prose.matchAll(/^ *\|.*$/gm),
      ([row]) =>
        row
          .replaceAll(/`[^`]*`/g, '')
          .replaceAll('\\|', '')
          .split('|').length,
    ),
    /** Headings of errors name their code, by which they are linked. */
    inHeadings: Array.from(prose.matchAll(/^#+ [^`\n]*`([^`\n]+)`/gm), ([, code]) => code),
  };
}

describe('documents', () => {
  test.each(documents)('%s has the same headings, code and tables in Russian', path => {
    const [english, russian] = [read(path), read(fileIn(path, 'ru'))];
    expect(shapeOf(russian)).toEqual(shapeOf(english));
    expect(russian.match(/^# .*[а-я]|^# kopeck-client$/m)).not.toBeNull();
  });

  test('in Russian there is no guide more', () => {
    const inRussian = readdirSync(join(root, 'docs/guides/ru'));
    expect(inRussian.sort()).toEqual([...guides].sort());
  });

  test('have one page, whose language is that of the file', () => {
    for (const path of documents) {
      expect(pageOfFile(path), path).toMatch(/^\/docs\//);
      for (const language of languages) expect(pageOfFile(fileIn(path, language))).toBe(pageOfFile(path));
    }
    for (const other of [
      'docs/internals/api.md',
      'docs/internals/ru/api.md',
      'docs/guides/ru/x/y.md',
      'README.md',
    ])
      expect(pageOfFile(other), other).toBeUndefined();
  });
});

describe('the texts of the OpenAPI document', async () => {
  const document = await serveDocument();
  const asked = new Set<string>();
  const note = (text: string) => {
    asked.add(text);
    return text;
  };
  const mark = (text: string) => `«${text}»`;
  const linksIn = (text: string) =>
    Array.from(text.matchAll(/\]\(([^)]+)\)/g), ([, target]) => target).sort();

  test('are all in Russian, and nothing else is', () => {
    translateDocument(document, note);
    expect([...asked].filter(text => !Object.hasOwn(referenceInRussian, text))).toEqual([]);
    expect(Object.keys(referenceInRussian).filter(text => !asked.has(text))).toEqual([]);
  });

  test('keep what is code, and the marks that become labels', () => {
    for (const [english, russian] of Object.entries(referenceInRussian)) {
      const isOptional = english.startsWith(siteTexts.en.fields.optionalMark);
      expect(russian.startsWith(siteTexts.ru.fields.optionalMark), russian).toBe(isOptional);
      expect(linksIn(russian), russian).toEqual(linksIn(english));
    }
  });

  test('are no values: what programs send and receive stays', () => {
    const translated = translateDocument(document, mark);
    const { post } = translated.paths['/v1/payments'] as (typeof translated.paths)[string];
    const bodies = Object.values(post!.responses['200']!.content!['application/json']!.examples!);
    const failed = bodies.map(({ value }) => value as { status: string; error: { message: string } });
    expect(failed.find(({ status }) => status === 'failed')!.error.message).toMatch(/^The payment/);
    const refusals = Object.values(post!.responses['402']!.content!['application/json']!.examples!);
    expect((refusals[0]!.value as { error: { message: string } }).error.message).toMatch(/^«.*»$/);
    expect(post!.summary).toMatch(/^«.*»$/);
    expect(translated.tags.map(({ name, title }) => [name, title])).toContainEqual([
      'Optional',
      '«Optional»',
    ]);
    expect(JSON.stringify(Object.keys(translated.paths))).toBe(JSON.stringify(Object.keys(document.paths)));
  });
});

describe('pages', async () => {
  const visited = await crawl(await startSite());
  const pages = [...visited].filter(([, { response }]) =>
    response.headers.get('content-type')?.startsWith('text/html'),
  );
  const paths = pages.map(([path]) => path);
  const alternatesOf = (text: string) =>
    Array.from(
      text.matchAll(/<link rel="alternate" hreflang="([\w-]+)" href="([^"]+)">/g),
      ([, language, path]) => [language, path],
    );
  const idsOf = (text: string) => Array.from(text.matchAll(/<h[1-6] id="([^"]+)"/g), ([, id]) => id);

  test('are the same in both languages, and name each other', () => {
    expect(paths).toEqual(
      expect.arrayContaining(['/', '/ru/', '/docs/', '/docs/ru/', '/docs/ru/guides/webhooks']),
    );
    for (const [path, { text }] of pages) {
      const alternates = alternatesOf(text);
      expect(
        alternates.map(([language]) => language),
        path,
      ).toEqual([...languages, 'x-default']);
      const byLanguage = Object.fromEntries(alternates);
      expect(byLanguage[languageOf(path)], path).toBe(path);
      expect(byLanguage['x-default'], path).toBe(byLanguage.en);
      for (const language of languages) {
        expect(byLanguage[language], path).toBe(localPath(byLanguage.en!, language));
        const same = visited.get(byLanguage[language]!)!;
        expect(alternatesOf(same.text), path).toEqual(alternates);
        expect(idsOf(same.text), path).toEqual(idsOf(text));
      }
    }
  });

  test('say their language, and offer the other one', () => {
    for (const [path, { text }] of pages) {
      const language = languageOf(path);
      expect(text, path).toContain(`<html lang="${language}">`);
      const [, other, , target] =
        /<a class="language" lang="(\w+)" hreflang="(\w+)" href="([^"]+)">/.exec(text) ?? [];
      expect(other, path).not.toBe(language);
      expect(languageOf(target!), path).toBe(other);
      expect(paths, path).toContain(target);
    }
  });

  test('lead to pages in their language only', () => {
    for (const [path, { text }] of pages) {
      const body = text.split('<body')[1]!.replace(/<a class="language"[^>]*>/, '');
      const targets = Array.from(
        body.matchAll(/ href="(\/(?:docs\/(?!assets\/)[^"#]*)?)[#"]/g),
        ([, target]) => target!,
      );
      expect(targets.length, path).toBeGreaterThan(3);
      for (const target of targets) expect(languageOf(target), `${path}: ${target}`).toBe(languageOf(path));
    }
  });

  test('in Russian say nothing in English', () => {
    const phrases = Object.values(siteTexts.en.frame).flatMap(text =>
      typeof text === 'string' && text.includes(' ') ? [text] : [],
    );
    const others = ['Example response', 'At most', 'One of ', ' fields<', 'Status 200', 'Returned by'];
    for (const [path, { text }] of pages.filter(([path]) => languageOf(path) === 'ru')) {
      const prose = text.replaceAll(/<pre[\s\S]*?<\/pre>/g, '');
      const found = [...phrases, ...others].filter(phrase => prose.includes(phrase));
      expect(found, path).toEqual([]);
      expect(prose, path).not.toMatch(/undefined|\[object|Default Response/);
    }
  });

  test('with a public address name each other in full, as search engines ask for', async () => {
    const address = await startSite(async () => {}, { publicUrl: 'https://pay.example.com' });
    const text = await (await fetch(`${address}/docs/ru/guides/errors`)).text();
    expect(alternatesOf(text)).toEqual([
      ['en', 'https://pay.example.com/docs/guides/errors'],
      ['ru', 'https://pay.example.com/docs/ru/guides/errors'],
      ['x-default', 'https://pay.example.com/docs/guides/errors'],
    ]);
  });
});
