import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startSite } from './site-world.ts';

interface Entry {
  page: string;
  heading: string;
  path: string;
  words: string;
}

/** The browser loads it as it is, so it has no types. */
const { createSearch, stemOf } = (await import(
  join(import.meta.dirname, '../../src/api/docs/assets/ranking.js')
)) as { createSearch(entries: Entry[]): (query: string) => Entry[]; stemOf(word: string): string };

describe('words lose their endings', () => {
  test.each([
    'вебхук вебхуки вебхуков вебхуком вебхукам вебхуках',
    'платёж платежа платежу платежи платежей платежами платежом',
    'возврат возврата возвраты возвратов',
    'лимит лимита лимиты лимитов',
    'ответ ответа ответы ответов',
    'событие события событий событию',
    'ключ ключа ключи ключей',
    'попытка попытки попыток попытку попытками',
    'список списка списки списков',
    'qr-код qr-кода qr-коды qr-кодов',
    'тестовый тестового тестовые тестовая тестовых',
    'webhook webhooks',
    'retry retries retried',
    'address addresses',
    'balance balances',
  ])('%s', words => {
    expect(new Set(words.split(' ').map(stemOf)).size).toBe(1);
  });

  test.each([
    'status',
    'this',
    'key',
    'sbp',
    'amount_mismatch',
    'evt_17s',
    'v1.2',
    'сбп',
    'код',
    '2026-11-15',
  ])('%s has none', word => expect(stemOf(word)).toBe(word));
});

const entry = (path: string, heading: string, words: string): Entry => ({
  page: 'Page',
  heading,
  path,
  words: `page ${words}`,
});

describe('a query finds', () => {
  const search = createSearch([
    entry('/text', 'Other', 'the webhooks are sent again key'),
    entry('/heading', 'Webhooks', 'webhooks and more'),
    entry('/part', 'Third', 'webhook_secret'),
    entry('/russian', 'Подпись', 'проверьте подпись вебхуков'),
  ]);
  const pathsOf = (query: string) => search(query).map(({ path }) => path);

  test('headings before texts, and whole words before parts', () => {
    expect(pathsOf('webhook')).toEqual(['/heading', '/text', '/part']);
  });

  test('only what has every word', () => {
    expect(pathsOf('webhooks sent')).toEqual(['/text']);
    expect(pathsOf('webhooks nothing-such')).toEqual([]);
  });

  test('other endings', () => {
    expect(pathsOf('подписи вебхука')).toEqual(['/russian']);
  });

  test.each(['webook', 'webhokk', 'webhoooks', 'wbehook', 'webhok', 'xebhook'])(
    'what is meant by %s, one letter off',
    query => expect(pathsOf(query)).toContain('/heading'),
  );

  test.each(['вэбхук', 'подпсиь', 'вебхукии'])('what is meant by %s', query =>
    expect(pathsOf(query)).toEqual(['/russian']),
  );

  test('no words that are two letters off, or shorter than four letters', () => {
    expect(pathsOf('weboo')).toEqual([]);
    expect(pathsOf('kye')).toEqual([]);
    expect(pathsOf('kxey')).toEqual(['/text']);
  });

  test('no similar words, if the word itself occurs', () => {
    const sounds = createSearch([entry('/test', 'A', 'test'), entry('/text', 'B', 'text')]);
    expect(sounds('test').map(({ path }) => path)).toEqual(['/test']);
  });
});

describe('the index', async () => {
  const address = await startSite();
  const indexAt = async (path: string) =>
    createSearch((await (await fetch(address + path)).json()) as Entry[]);
  const english = await indexAt('/docs/search.json');
  const russian = await indexAt('/docs/ru/search.json');

  test.each([
    ['retry webook', '/docs/guides/webhooks'],
    ['webhooks', '/docs/guides/webhooks'],
    ['amount_mismatch', '/docs/guides/errors#amount_mismatch'],
    ['going live', '/docs/guides/going-live'],
    ['POST /v1/payments', '/docs/reference/create-payment'],
  ])('in English: %s', (query, path) => {
    const found = english(query).slice(0, 3);
    expect(found.filter(one => one.path.startsWith(path))).not.toEqual([]);
  });

  test.each([
    ['вебхук', '/docs/ru/guides/webhooks'],
    ['подпись вебхуков', '/docs/ru/guides/webhooks'],
    ['тестовый режим', '/docs/ru/guides/test-mode'],
    ['возврат', '/docs/ru/guides/refunds'],
    ['первый платеж', '/docs/ru/guides/first-payment'],
    ['amount_mismatch', '/docs/ru/guides/errors#amount_mismatch'],
  ])('in Russian: %s', (query, path) => {
    const found = russian(query).slice(0, 3);
    expect(found.filter(one => one.path.startsWith(path))).not.toEqual([]);
  });

  test('has pages of its language only', () => {
    for (const { path } of english('payment')) expect(path).not.toMatch(/^\/docs\/ru\//);
    for (const { path } of russian('платёж')) expect(path).toMatch(/^\/docs\/ru\//);
  });
});
