import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ApiDocument, endpointsOf, operationPath } from '../../src/api/docs/reference/document.ts';
import { allErrors, errors } from '../../src/base/errors.ts';
import { scenarios } from '../../src/payments/create/scenarios.ts';
import { failureMessages } from '../../src/payments/payment.ts';
import { crawl } from '../docs/site-world.ts';
import { startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { root } from '../sdk/packed.ts';
import { choose, type Guide, guides, languages, patternOf, stepsOf } from './snippets.ts';

const guide = (name: string) => guides.find(one => one.name === name)!;
/** The code in the first column of the table below a heading row that begins so. */
const firstColumn = ({ text }: Guide, head: string) => {
  const [, rows = ''] = text.split(head);
  const [table = ''] = rows.split('\n\n');
  return Array.from(table.matchAll(/^\| `(\w+)` \|/gm), ([, name]) => name);
};

describe('what stands in a table of the service', () => {
  test('errors: no code is missing, none is invented, and the advice is the same', () => {
    const { text } = guide('errors');
    const [, ...sections] = text.split(/^### /m);
    const documented = sections.map(section => {
      const [, code, status, optional] = /^`(\w+)` · (\d+)( · optional)?\n/.exec(section) ?? [];
      const [, retry, key] = /^Retry: (yes|no)\. Key: (the same|a new one)\.$/m.exec(section) ?? [];
      expect(section.split('\n')[2]?.length, `${code} says nothing`).toBeGreaterThan(20);
      return [code, { status: Number(status), retry, key, isOptional: optional !== undefined }];
    });
    const known = Object.entries(allErrors).map(([code, { status, retryable, same_key }]) => [
      code,
      {
        status,
        retry: retryable ? 'yes' : 'no',
        key: same_key ? 'the same' : 'a new one',
        isOptional: !Object.hasOwn(errors, code),
      },
    ]);
    expect(documented).toHaveLength(known.length);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(known));
  });

  test('why payments fail', () => {
    expect(firstColumn(guide('errors'), '| code | why |')).toEqual(Object.keys(failureMessages));
  });

  test('scenarios', () => {
    const documented = firstColumn(guide('test-mode'), '| `kopeck_scenario` |');
    expect(documented.sort()).toEqual(Object.keys(scenarios).sort());
  });
});

describe('snippets', () => {
  test('are in all languages, in the order of the tabs, but for commands of the shell', () => {
    const steps = guides.flatMap(({ path, steps }) => steps.map(step => ({ path, step })));
    expect(steps.length).toBeGreaterThan(30);
    for (const { path, step } of steps) {
      const place = `${path}:${step[0]!.line}`;
      const used = step.map(({ language }) => language);
      if (step.length === 1) {
        expect(used, place).toEqual(['sh']);
        // What calls the API is not for the shell only.
        expect(step[0]!.code, place).not.toContain('/v1/');
        continue;
      }
      const isClient = step[0]!.fileName?.startsWith('kopeck.');
      const callsApi = step.some(({ code }) => code.includes('/v1/'));
      const missing = isClient ? ['sh', 'ts'] : callsApi ? [] : ['sh'];
      expect(used, place).toEqual(languages.filter(language => !missing.includes(language)));
    }
  });

  test('that follow each other directly are tabs; the output is that of all of them', () => {
    const fence = '```';
    const block = (language: string, code: string) => `${fence}${language}\n${code}\n${fence}\n`;
    const text = [
      block('sh', 'curl a\n# {"a":1}'),
      block('ts', 'a();'),
      block('go', 'a()'),
      block('text', '1'),
      block('ts', 'b();'),
      'Then:\n',
      block('python', '# c.py\nc()'),
    ].join('\n');
    const steps = stepsOf(text);
    expect(
      steps.map(step => step.map(({ language, prints, fileName }) => [language, prints, fileName])),
    ).toEqual([
      [
        ['sh', '{"a":1}\n', undefined],
        ['ts', '1\n', undefined],
        ['go', '1\n', undefined],
      ],
      [['ts', undefined, undefined]],
      [['python', undefined, 'c.py']],
    ]);
    expect(choose(steps[0]!, 'go')!.code).toBe('a()\n');
    expect(choose(steps[1]!, 'go')).toBe(undefined);
    expect(() => stepsOf(block('text', 'nothing'))).toThrow('line 1: nothing prints this');
  });
});

test('every guide is in the list of guides, and the list is in the README', () => {
  const named = Array.from(guide('README').text.matchAll(/\]\(([\w-]+)\.md\)/g), ([, name]) => name);
  expect(named.sort()).toEqual(guides.map(({ name }) => name).filter(name => name !== 'README'));
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  for (const { name } of guides) if (name !== 'README') expect(readme).toContain(`docs/guides/${name}.md`);
});

test('what a guide says that is printed is taken literally but for the dots', () => {
  expect('{"a":"pay_1","b":2}').toMatch(patternOf('{"a":"pay_…","b":2}'));
  expect('{"a":"pay_1","b":3}').not.toMatch(patternOf('{"a":"pay_…","b":2}'));
  expect('one two').not.toMatch(patternOf('one'));
});

const { pool } = await createDatabase();
const { address } = await startApi({ pool });
const visited = await crawl(address);
const document = (await (await fetch(`${address}/openapi.json`)).json()) as ApiDocument;
const idsOf = (text: string) => Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => id!);

test('every guide is a page, and no link of the documentation dangles', () => {
  for (const { name } of guides)
    expect([...visited.keys()]).toContain(name === 'README' ? '/docs/guides/' : `/docs/guides/${name}`);
  for (const [path, { response, text, links }] of visited) {
    expect(response.status, path).toBe(200);
    expect(new Set(idsOf(text)).size, path).toBe(idsOf(text).length);
    for (const { pathname, hash } of links)
      if (hash !== '')
        expect(idsOf(visited.get(pathname)!.text), `${path}: ${pathname}${hash}`).toContain(hash.slice(1));
  }
});

test.each(endpointsOf(document))(
  'the reference has everything about $method $path',
  ({ method, path, operation }) => {
    const { text } = visited.get(operationPath(operation))!;
    expect(text).toContain(`>${method}</span> <code>${path}</code>`);
    const content = operation.requestBody?.content['application/json']?.schema;
    for (const name of Object.keys(content?.properties ?? {}))
      expect(text).toContain(`<code class="name">${name}</code>`);
    for (const { name } of operation.parameters ?? [])
      expect(text).toContain(`<code class="name">${name}</code>`);
    expect(text).toContain('<code class="name">');
    for (const language of ['sh', 'ts', 'python', 'php', 'go'])
      expect(text).toContain(`data-language="${language}"`);
    const refusals = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
    const codes = JSON.stringify(refusals).matchAll(/"code":"(\w+)","message"/g);
    for (const [, code] of codes) expect(text).toContain(`/docs/reference/errors#${code}"`);
    expect(text).not.toMatch(/undefined|\[object|Default Response/);
  },
);

test('the reference has every error and every webhook event', () => {
  const ids = idsOf(visited.get('/docs/reference/errors')!.text);
  for (const code of Object.keys(allErrors)) expect(ids).toContain(code);
  for (const event of ['payment.succeeded', 'payment.failed']) {
    const { text } = visited.get(`/docs/events/${event.replace('.', '-')}`)!;
    for (const name of ['X-Service-Signature', 'created_at', 'data', 'amount_usdt'])
      expect(text).toContain(`<code class="name">${name}</code>`);
  }
});

test('nested objects are below their field', () => {
  const { text } = visited.get('/docs/reference/get-statement')!;
  const [, entries = ''] = text.split('<code class="name">entries</code>');
  const [, nested = ''] = entries.split('<details open>');
  expect(nested).toMatch(
    /^<summary>9 fields<\/summary>\s*<ul class="fields">\s*<li><p><code class="name">entry_no</,
  );
});
