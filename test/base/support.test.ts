import { expect, test } from 'vitest';
import { supportInEnglish, supportInRussian } from '../../src/base/support.ts';

const otherwise = 'Wait.';

test('with an address the sentence names it, an e-mail address as people write it', () => {
  expect(supportInEnglish('https://t.me/help', otherwise)).toBe('Contact support: https://t.me/help');
  expect(supportInRussian('mailto:help@kopeck.example', otherwise)).toBe(
    'Напишите в поддержку: help@kopeck.example',
  );
  expect(supportInEnglish('https://t.me/help', otherwise, 'Ask support')).toBe(
    'Ask support: https://t.me/help',
  );
});

test('without one it says what else to do', () => {
  for (const sentence of [supportInEnglish, supportInRussian])
    expect(sentence(undefined, otherwise, 'Ask support')).toBe(otherwise);
});
