import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseDatabaseUrl } from '../../src/base/database-url.ts';
import { allCommands, expectAccepted, wordsOf } from '../cli/all-commands.ts';

/** What an operator copies from the guide must exist. */
const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const guide = read('docs/operations/production.md');

/** Lines of the shell, each as one; in the table of the containers, what is in backticks. */
const lines = [
  ...Array.from(guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm), ([, code]) =>
    code!.replaceAll(/ *\\\n */g, ' ').split('\n'),
  ).flat(),
  ...Array.from(guide.matchAll(/^\| `kopeck .*$/gm), ([row]) =>
    Array.from(row.matchAll(/`([^`]+)`/g), ([, code]) => code!),
  ).flat(),
];

/** What follows the name of the program: also by its path, as another user or in a container. */
const commands = lines.flatMap(line => {
  const [, args] = /^(?:.*[ /])?kopeck ([a-z][^|#&]*)/.exec(line) ?? [];
  if (args === undefined) return [];
  // The end of what another shell is given.
  return [(args.split("'").length % 2 === 0 ? args.replace(/'$/, '') : args).trim()];
});

test('commands are found by this test', () => {
  expect(commands.length).toBeGreaterThan(12);
  for (const name of ['doctor', 'migrate', 'operator create', 'backup list', 'webhook set'])
    expect(commands.filter(code => code.startsWith(name))).not.toEqual([]);
});

test.each(commands.filter(code => !code.includes('…')))('the command line takes kopeck %s', code => {
  const args = wordsOf(code);
  const found = allCommands.find(([path]) => `${args.join(' ')} `.startsWith(`${path} `));
  // The default command of its group is called by the name of the group.
  const [path, command] = found ?? allCommands.find(([path]) => path === `${args[0]} create`) ?? [];
  expect(command, `no such command: ${code}`).toBeDefined();
  const isShort = found === undefined;
  expectAccepted(path!, command!, {
    line: code,
    args: isShort ? path!.split(' ').concat(args.slice(1)) : args,
  });
});

test('every file of the package that it names is there', () => {
  const { files, bin } = JSON.parse(read('package.json'));
  expect(files).toContain('ops');
  const named = Array.from(guide.matchAll(/node_modules\/kopeck\/(ops\/[\w./-]+)/g), ([, path]) => path!);
  const inOps = Array.from(guide.matchAll(/\bcp (systemd\/\S+) (systemd\/\S+)/g), ([, one, other]) =>
    [one, other].map(path => `ops/${path}`),
  );
  expect([...named, ...inOps.flat()].length).toBeGreaterThan(4);
  for (const path of [...named, ...inOps.flat()]) expect(existsSync(join(root, path)), path).toBe(true);
  const programs = Array.from(guide.matchAll(/node_modules\/\.bin\/([\w-]+)/g), ([, name]) => name!);
  expect(programs.filter(name => !(name in bin))).toEqual([]);
});

test('it names the functions that have the rights of the owner', () => {
  const folder = 'database/functions';
  const functions = readdirSync(join(root, folder)).filter(name =>
    read(join(folder, name)).includes('SECURITY DEFINER'),
  );
  const [, count, text] = /(\w+) functions have the rights of the owner([\s\S]*?)\n\n/.exec(guide)!;
  expect([count, functions.length]).toEqual(['Ten', 10]);
  for (const name of functions) expect(text).toContain(`\`${name.replace('.sql', '')}\``);
});

test.each(['kopeck.env', 'backup.env'])('every setting of ops/%s is documented, in use or not', name => {
  const settings = read('docs/reference/settings.md');
  const names = Array.from(read(`ops/${name}`).matchAll(/^#?([A-Z_]+)=/gm), ([, setting]) => setting!);
  expect(names.length).toBeGreaterThan(4);
  for (const setting of names) expect(settings).toContain(`\`${setting.replace(/_FILE$/, '')}\``);
});

test('the settings of the backup lead to the socket of the server', () => {
  const [, url] = /^DATABASE_URL=(.*)$/m.exec(read('ops/backup.env'))!;
  expect(parseDatabaseUrl(url!).servers).toEqual([{ host: '/run/postgresql', port: 5432 }]);
});

test('pages of the console have the names of its menu', () => {
  const [, menu] = /^ {2}nav: \{\n([\s\S]*?)^ {2}\},$/m.exec(read('web/src/texts/shared.texts.ts'))!;
  const names = Array.from(menu!.matchAll(/^ +\w+: \['([^']+)'/gm), ([, name]) => name!);
  expect(names.length).toBeGreaterThan(10);
  const folders = ['docs/runbooks', 'docs/operations'];
  const pages = folders.flatMap(folder => readdirSync(join(root, folder)).map(name => join(folder, name)));
  const named = pages.flatMap(path =>
    Array.from(
      read(path).matchAll(/\bpage\s(?:"([^"]+)"|([A-Z]\w+))/g),
      ([, quoted, bare]) => quoted ?? bare!,
    ),
  );
  expect(named.length).toBeGreaterThan(6);
  expect(named.filter(name => !names.includes(name))).toEqual([]);
});

test('a header that the proxy sets is set for every location', () => {
  const [, ...locations] = read('ops/nginx.conf').split(/^ {2}(?:# )?location /m);
  expect(locations.length).toBe(2);
  for (const location of locations) expect(location).not.toContain('proxy_set_header');
});
