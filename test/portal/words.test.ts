import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { badPeriods } from '../../src/reports/wanted-period.ts';
import { inRussian } from '../../web/src/portal/texts/server-sentences.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'src', 'portal');
/** Read as text: with its module come those of a browser. */
const words = readFileSync(join(root, 'web', 'src', 'portal', 'texts', 'shared.texts.ts'), 'utf8');
const source = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.ts'))
  .map(path => readFileSync(join(folder, path), 'utf8'))
  .join('\n');
/** Code and message of each refusal that stands in the code. */
const refusals = [...source.matchAll(/refuse\(\s*\d{3},\s*'(\w+)',\s*'([^']+)'/g)].map(
  ([, code, message]) => ({
    code: code!,
    message: message!,
  }),
);

test('each refusal has words in both languages', () => {
  expect(refusals.length).toBeGreaterThan(30);
  const codes = refusals.map(({ code }) => code);
  expect(codes.filter(code => !words.includes(`\n    ${code}: [`))).toEqual([]);
});

test('what is wrong with a form is said in Russian, too', () => {
  const ofForms = refusals.filter(({ code }) => code === 'invalid_request').map(({ message }) => message);
  const sentences = [...ofForms, ...Object.values(badPeriods)];
  expect(sentences.filter(sentence => inRussian(sentence) === sentence)).toEqual([]);
});
