import { expect, test } from 'vitest';
import { html } from '../../src/api/docs/html.ts';
import { renderMarkdown } from '../../src/api/docs/markdown.ts';
import { searchEntriesOf } from '../../src/api/docs/sections.ts';

const entriesOf = (source: string) =>
  searchEntriesOf({ path: '/docs/x', title: 'X' }, renderMarkdown(source, 'docs/guides/x.md').text);

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
  const link = html`<a href="${'"><script>'}">${'a & b'}</a>`;
  expect(html`${[link, false, undefined, 1]}`.text).toBe('<a href="&quot;&gt;&lt;script&gt;">a &amp; b</a>1');
});
