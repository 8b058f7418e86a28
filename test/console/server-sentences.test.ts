import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inRussian, sentences } from '../../web/src/texts/server-sentences.ts';

const folder = join(import.meta.dirname, '..', '..', 'src');

/** The server's code; a text that is joined with `+` over two lines is one text. */
const source = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.ts'))
  .map(path => readFileSync(join(folder, path), 'utf8'))
  .join('\n')
  .replaceAll(/[`'] \+\n\s*[`']/g, '');

test('each sentence is one that the server writes', () => {
  const pieces = sentences.flatMap(([english]) => english.split('{}'));
  const long = pieces.map(piece => piece.replaceAll(/^[. ]+|[. ]+$/g, '')).filter(piece => piece.length > 9);
  expect(long.length).toBeGreaterThan(50);
  expect(long.filter(piece => !source.includes(piece))).toEqual([]);
});

test('both languages have the same gaps', () => {
  const gaps = (text: string) => text.split('{}').length;
  expect(sentences.filter(([english, russian]) => gaps(english) !== gaps(russian))).toEqual([]);
});

test('a sentence is translated with its parts, and an unknown one stays', () => {
  expect(inRussian('The payment is failed, but the gateway now reports succeeded (order ord_1).')).toBe(
    'Статус платежа: не прошёл, а шлюз теперь сообщает другой: оплачен (поручение ord_1).',
  );
  expect(
    inRussian(
      'Your request was not saved. Request apr_1 by anna is already waiting for approval. New status: failed.',
    ),
  ).toBe(
    'Ваш запрос не сохранён: подтверждения уже ждёт запрос apr_1, автор — anna. Новый статус: не прошёл.',
  );
  expect(inRussian('rapira: answered with HTTP status 451; b: stale')).toBe(
    'rapira: ответ HTTP 451; b: данные устарели',
  );
  expect(inRussian('reason: String should have at most 128 characters; limit: Field required')).toBe(
    'reason: не больше символов: 128; limit: обязательное поле',
  );
  expect(inRussian('by 12 %')).toBe('by 12 %');
});
