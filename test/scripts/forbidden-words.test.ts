import { expect, test } from 'vitest';
import { findForbidden, readForbiddenWords } from '../../scripts/forbidden-words.ts';

const words = readForbiddenWords(`# Glossary

| \`term\` | not a forbidden word |

## Words we do not use

| word | instead | allowed |
|---|---|---|
| \`castle\`, \`hand out\` | module | \`Math.castle\`, \`castle in\` |
| \`peekAt\` | poll | |
| \`OLD_NAME\` | NEW_NAME | |
`);

const found = (line: string) => findForbidden(line, words).map(({ word }) => word);

test.each([
  ['in prose', 'Every Castle has a gate.', ['castle']],
  ['in the plural', 'castles', ['castle']],
  ['as a part of an identifier', 'const keepCastle = is_castle', ['castle']],
  ['in a file name', 'src/base/my-castle.ts', ['castle']],
  ['as a phrase', 'they hand  out keys', ['hand out']],
  ['as a phrase in an identifier', 'handOut(keys)', ['hand out']],
  ['as an identifier', 'await peekAt(it), PeekAt', ['peekAt']],
  ['inside an identifier', 'mustPeekAt()', ['peekAt']],
  ['as the name of a setting', 'OLD_NAME=1', ['OLD_NAME']],
])('a forbidden word is found %s', (_, line, expected) => {
  expect(found(line)).toEqual(expected);
});

test.each([
  ['a longer word', 'sandcastlefish'],
  ['an allowed phrase', 'Math.castle(1), castle in the air'],
  ['an identifier as prose', 'peek at it'],
  ['a longer identifier', 'peekAtlas'],
  ['a word of another table', 'term'],
  ['a phrase that ends inside an identifier', 'hand outFlow'],
])('%s is not', (_, line) => {
  expect(found(line)).toEqual([]);
});

test('an allowed phrase does not hide the word beside it', () => {
  expect(found('Math.castle(castle)')).toEqual(['castle']);
});
