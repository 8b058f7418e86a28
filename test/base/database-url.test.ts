import { expect, test } from 'vitest';
import { parseDatabaseUrl } from '../../src/base/database-url.ts';
import { words } from '../helpers/words.ts';

const servers = (url: string) => parseDatabaseUrl(url).servers.map(({ host, port }) => `${host} ${port}`);

test.each([
  ['postgresql://u:p@db/kopeck', ['db 5432']],
  ['postgres://db:6000', ['db 6000']],
  ['postgresql://u:p@h1:5432,h2:5433/db', ['h1 5432', 'h2 5433']],
  ['postgresql://u:p@h1,h2:5433/db', ['h1 5432', 'h2 5433']],
  ['postgresql://u@[::1]:5433,[fe80::2]/db', ['::1 5433', 'fe80::2 5432']],
  ['postgresql://u@/db?host=/run/postgresql', ['/run/postgresql 5432']],
  ['postgresql:///db?host=/run/postgresql&port=6000', ['/run/postgresql 6000']],
  ['postgresql://u@%2Frun%2Fpostgresql/db', ['/run/postgresql 5432']],
  ['postgresql://u@localhost:5433/db?host=/tmp', ['/tmp 5433']],
  ['postgresql://u@/db?host=h1,h2&port=1,2', ['h1 1', 'h2 2']],
  ['postgresql://u@/db?host=h1,h2&port=7', ['h1 7', 'h2 7']],
])('%s', (url, expected) => {
  expect(servers(url)).toEqual(expected);
});

test('the driver gets the first of several servers, and the rest of the address as it is', () => {
  const { ofFirst, mustBeWritable } = parseDatabaseUrl(
    'postgresql://u:p%40:s@h1,h2/db?target_session_attrs=read-write&sslmode=verify-full',
  );
  expect(ofFirst).toBe('postgresql://u:p%40:s@h1:5432/db?sslmode=verify-full');
  expect(mustBeWritable).toBe(true);
  expect(parseDatabaseUrl('postgresql://u@/db?host=/a,/b&port=1').ofFirst).toBe(
    'postgresql://u@localhost:1/db?host=%2Fa',
  );
  const single = 'postgresql://u:p@h1/db?target_session_attrs=primary';
  expect(parseDatabaseUrl(single).ofFirst).toBe(single);
});

test('what messages show has no password, not even one with an @ in it', () => {
  expect(parseDatabaseUrl('postgresql://u:hunter@2@h1,[::1]:1/db?password=hunter3').place).toBe(
    'h1:5432,[::1]:1/db',
  );
});

const refused = words(`mysql://u:hunter2@h1/db postgresql:h1 postgresql://u:hunter2@h1:x/db
  postgresql://u:hunter2@h1:70000,h2/db postgresql://u:hunter2@h1,,h2/db postgresql://u:hunter2@h1:1:2/db
  postgresql://u:hunter2@/db?host=h1,h2,h3&port=1,2
  postgresql://u:hunter2@h1,h2/db?target_session_attrs=standby postgresql://u:hunter2#3@h1/db`);
test.each(refused)('%s is refused in one line without the password', url => {
  let message = '';
  try {
    parseDatabaseUrl(url);
  } catch (error) {
    message = `${(error as Error).message}`;
  }
  expect(message).toMatch(/^DATABASE_URL must [^\n]+$/);
  expect(message).not.toContain('hunter');
});
