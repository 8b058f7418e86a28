import { expect, test } from 'vitest';
import { type ApiDocument, endpointsOf, operationPath } from '../../src/api/docs/reference/document.ts';
import { allErrors } from '../../src/base/errors.ts';
import { crawl } from '../docs/site-world.ts';
import { startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { guides } from './snippets.ts';

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

test('the changelog is a page', () => {
  expect(visited.get('/docs/changelog')!.text).toContain('<h1 id="changelog">Changelog</h1>');
});
