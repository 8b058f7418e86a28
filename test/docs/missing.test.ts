import { describe, expect, test } from 'vitest';
import { languageOf } from '../../src/api/docs/locale.ts';
import { startSite } from './site-world.ts';

const address = await startSite();
const ask = (path: string, method = 'GET', headers: Record<string, string> = {}) =>
  fetch(address + path, { method, headers });

describe('a path of the documentation where nothing is', () => {
  test.each([
    '/docs/nothing',
    '/docs/guides/README',
    '/docs/guides/README.md',
    '/docs/guides/..%2f..%2fpackage.json',
    '/docs/guides/__proto__',
    '/docs/assets/site.css',
    '/docs/assets/0000000000000000/site.css',
    '/docs/ru/nothing',
    '/docs/ru/assets/site.css',
  ])('%s is answered by a page in its language, with links and the search', async path => {
    const language = languageOf(path);
    // Not 304: a page that is not there is not current.
    const answer = await ask(path, 'GET', { 'if-none-match': '*' });
    const page = await answer.text();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page).toContain(`<html lang="${language}">`);
    expect(page).toContain(language === 'ru' ? 'Страница не найдена</h1>' : 'Page not found</h1>');
    expect(page).toContain('<search hidden');
    expect(page).not.toContain('rel="alternate"');
    const targets = Array.from(page.matchAll(/ href="(\/[^"]*)"/g), ([, target]) => target!);
    for (const target of targets) expect((await ask(target, 'HEAD')).status, target).toBe(200);
    expect((await ask(path, 'HEAD')).status).toBe(404);
  });

  test('elsewhere it is answered as by the API', async () => {
    const answer = await ask('/index.html');
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
  });
});
