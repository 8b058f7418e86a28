import { describe, expect, test } from 'vitest';
import { html as template } from '../../src/api/docs/html.ts';
import { localLinks, siteTexts } from '../../src/api/docs/locale.ts';
import { headingIdsOf, linkSource, renderInline, renderMarkdown } from '../../src/api/docs/markdown.ts';
import { searchEntriesOf } from '../../src/api/docs/sections.ts';

const html = (source: string, file = 'docs/guides/a.md') => renderMarkdown(source, file, siteTexts.en).text;
const fence = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\`\n`;

test('is never HTML of its own', () => {
  expect(html('a <script>alert(1)</script> & `<b>`')).toBe(
    '<p>a &lt;script&gt;alert(1)&lt;/script&gt; &amp; <code>&lt;b&gt;</code></p>',
  );
  expect(html('# <img src=x onerror=alert(1)>')).not.toMatch(/<img/);
  expect(html('![x](https://elsewhere.example/x.png)')).not.toMatch(/<img/);
  expect(html(fence('"><script>', '</code><script>'))).not.toMatch(/<script/);
  expect(html(fence('ts', '</code><script>'))).not.toMatch(/<script/);
  expect(renderInline('a <script>').text).toBe('a &lt;script&gt;');
});

test.each(['javascript:alert', 'data:text/html,x', '//elsewhere.example', 'a"onclick=b'])(
  'a link to %s is text',
  target => expect(html(`[x](${target}) [y](#z)`)).toBe('<p>x <a href="#z">y</a></p>'),
);

test('links between documents become links between pages', () => {
  expect(html('[`a`](a-b.md#c) and [all](README.md)')).toBe(
    '<p><a href="/docs/guides/a-b#c"><code>a</code></a> and <a href="/docs/guides/">all</a></p>',
  );
  expect(html('[a](../../sdk/README.md#b) [c](../reference/api-changelog.md)')).toBe(
    '<p><a href="/docs/library#b">a</a> <a href="/docs/changelog">c</a></p>',
  );
  expect(html('[a](docs/guides/b.md)', 'CHANGELOG.md')).toBe('<p><a href="/docs/guides/b">a</a></p>');
});

test('a document that is no page here is not linked', () => {
  expect(html('see [`x`](../operations/x.md) and [y](constructor)')).toBe('<p>see <code>x</code> and y</p>');
  expect(html('[x](constructor)', 'CHANGELOG.md')).toBe('<p>x</p>');
});

test('code means nothing else', () => {
  expect(html('`**a** [b](c.md)` **d** *e* 2 * 3 * 4')).toBe(
    '<p><code>**a** [b](c.md)</code> <strong>d</strong> <em>e</em> 2 * 3 * 4</p>',
  );
  expect(html(`${fence('text', '# no heading\n\n| no table |')}after`)).toContain(
    '<code># no heading\n\n| no table |\n</code></pre></div>\n<p>after</p>',
  );
});

test('lists go on over lines', () => {
  expect(html('1. a\n   b\n2. c\n\n- d')).toBe(
    '<ol>\n<li>a b</li>\n<li>c</li>\n</ol>\n<ul>\n<li>d</li>\n</ul>',
  );
});

test('equal headings have different anchors', () => {
  expect(html('# A b\n\n## `c`!\n\n## C\n\n## c').match(/id="[^"]*"/g)).toEqual([
    'id="a-b"',
    'id="c"',
    'id="c-1"',
    'id="c-2"',
  ]);
});

describe('in Russian', () => {
  const russian = (source: string, ids?: string[]) =>
    renderMarkdown(source, 'docs/guides/ru/a.md', siteTexts.ru, ids).text;

  test('headings have the ids of those in English, by their order', () => {
    const ids = headingIdsOf('# A b\n\n## c\n\n```sh\n# no heading\n```\n\n## c');
    expect(ids).toEqual(['a-b', 'c', 'c-1']);
    expect(russian('# А б\n\n## в\n\n## г', ids).match(/id="[^"]*"/g)).toEqual([
      'id="a-b"',
      'id="c"',
      'id="c-1"',
    ]);
  });

  test('links between documents lead to the same pages as in English, and then to those in Russian', () => {
    const page = russian(
      '[a](b.md#c) [d](README.md) [e](../../../sdk/README.ru.md) [f](../../reference/ru/api-changelog.md)',
    );
    const targets = (text: string) => Array.from(text.matchAll(/href="([^"]*)"/g), ([, target]) => target);
    const inEnglish = ['/docs/guides/b#c', '/docs/guides/', '/docs/library', '/docs/changelog'];
    expect(targets(page)).toEqual(inEnglish);
    expect(targets(localLinks(template`<a href="/">`, 'ru').text)).toEqual(['/ru/']);
    expect(
      targets(localLinks(renderMarkdown('[a](b.md#c)', 'docs/guides/a.md', siteTexts.ru), 'ru').text),
    ).toEqual(['/docs/ru/guides/b#c']);
  });

  test('what only looks like a link stays', () => {
    const code = template`<code>${' href="/docs/x"'}</code><img src="/docs/assets/1/x.svg"><a href="/openapi.json">`;
    expect(localLinks(code, 'ru').text).toBe(code.text);
  });

  test('blocks and tables have labels in Russian', () => {
    expect(russian('```text\nx\n```')).toContain('aria-label="Вывод"');
    expect(russian('|a|\n|---|\n|b|')).toContain('aria-label="Таблица"');
  });
});

test('the source of a page links to other sources, and not to what is no page', () => {
  const source =
    'See [a](b.md#c), [`x`](../operations/x.md),\n[all](README.md), [API](/docs/reference/), [here](#d) and [site](https://e.example/f#g).\n\n```md\n[a](b.md)\n```\n[a](b.md)';
  const linked = linkSource(source, 'docs/guides/a.md', page => `/ru${page}.md`);
  expect(linked).toBe(
    'See [a](/ru/docs/guides/b.md#c), `x`,\n[all](/ru/docs/guides/.md), [API](/ru/docs/reference/.md), [here](#d) and [site](https://e.example/f#g).\n\n```md\n[a](b.md)\n```\n[a](/ru/docs/guides/b.md)',
  );
});

describe('blocks of code', () => {
  const languagesOf = (source: string) =>
    html(source)
      .split('<div class="tabs">')
      .slice(1)
      .map(group => Array.from(group.matchAll(/data-language="(\w+)"/g), ([, language]) => language));

  test('that directly follow each other in different languages are one group of tabs', () => {
    const [sh, ts, go] = [fence('sh', 'curl x'), fence('ts', 'await x'), fence('go', 'x()')];
    expect(languagesOf(`${sh}\n\n${go}\n${ts}`)).toEqual([['sh', 'ts', 'go']]);
    expect(languagesOf(`${sh}\n${ts}\n${fence('text', 'x')}\n${sh}\n${go}`)).toEqual([
      ['sh', 'ts'],
      ['sh', 'go'],
    ]);
    expect(languagesOf(`${sh}\n${ts}\n${sh}\n${ts}`)).toEqual([
      ['sh', 'ts'],
      ['sh', 'ts'],
    ]);
    expect(
      languagesOf(`- a\n\n  ${sh.replaceAll('\n', '\n  ')}\n- b\n\n  ${ts.replaceAll('\n', '\n  ')}`),
    ).toEqual([]);
  });

  test.each([
    ['text between them', 'a'],
    ['a heading between them', '## a'],
    ['a language that has no tab', fence('json', '{}')],
  ])('with %s are no group', (_name, between) => {
    expect(languagesOf(`${fence('sh', 'a')}\n${between}\n\n${fence('ts', 'b')}`)).toEqual([]);
  });

  test('have headings one level below the last one, for readers without scripts', () => {
    const group = `${fence('sh', 'a')}\n${fence('php', 'b')}`;
    const names = (source: string) => html(source).match(/<h\d class="tab-name">\w+<\/h\d>/g);
    expect(names(`# a\n\n${group}`)).toEqual([
      '<h2 class="tab-name">curl</h2>',
      '<h2 class="tab-name">PHP</h2>',
    ]);
    expect(names(`# a\n\n## b\n\n### c\n\n${group}`)?.[1]).toBe('<h4 class="tab-name">PHP</h4>');
  });

  test.each([
    ['ts', 'const a = "b"; // c', ['keyword const', 'string &quot;b&quot;', 'comment // c']],
    ['sh', "curl 'a # b' x#y # c", ['keyword curl', "string 'a # b'", 'comment # c']],
    ['python', 'return "a#b" # c', ['keyword return', 'string &quot;a#b&quot;', 'comment # c']],
    [
      'php',
      "echo 'it\\'s'; /* a\nb */ 17",
      ['keyword echo', "string 'it\\'s'", 'comment /* a\nb */', 'number 17'],
    ],
    ['go', 'func x() { return `a\n"b` }', ['keyword func', 'keyword return', 'string `a\n&quot;b`']],
    [
      'json',
      '{"a": 1.5, "b": null}',
      ['string &quot;a&quot;', 'number 1.5', 'string &quot;b&quot;', 'keyword null'],
    ],
    ['ts', 'a = "not closed\nconst', ['string &quot;not closed', 'keyword const']],
    ['text', 'const a = "b"', []],
  ])('in %s are highlighted: %j', (language, code, expected) => {
    const marked = html(fence(language, code)).matchAll(/<span class="(\w+)">([^<]*)<\/span>/g);
    expect(Array.from(marked, ([, kind, text]) => `${kind} ${text}`)).toEqual(expected);
  });
});

const entriesOf = (source: string) =>
  searchEntriesOf({ path: '/docs/x', title: 'X' }, html(source, 'docs/guides/x.md'));

test('each section is an entry with its words once, without code blocks', () => {
  expect(
    entriesOf(
      '# X\n\nPay & pay, `qr_url`.\n\n```sh\nsecret\n```\n\n## B <c>\n\n| v1.2 |\n|---|\n| a-b |\n\n### `d` · 1\n\ne',
    ),
  ).toEqual([
    { page: 'X', heading: '', path: '/docs/x', words: 'x pay qr_url' },
    { page: 'X', heading: 'B <c>', path: '/docs/x#b-c', words: 'x b c v1.2 a-b' },
    { page: 'X', heading: 'd · 1', path: '/docs/x#d--1', words: 'x d 1 e' },
  ]);
});

test('what follows a group of tabs is part of the same section', () => {
  const [entry, ...rest] = entriesOf('# X\n\n```sh\na\n```\n\n```ts\nb\n```\n\nafter');
  expect(rest).toEqual([]);
  expect(entry!.words).toBe('x curl typescript after');
});

test('a template escapes its values, and HTML stays', () => {
  const link = template`<a href="${'"><script>'}">${'a & b'}</a>`;
  expect(template`${[link, false, undefined, 1]}`.text).toBe(
    '<a href="&quot;&gt;&lt;script&gt;">a &amp; b</a>1',
  );
});
