import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const { layers, databaseParts }: Record<'layers' | 'databaseParts', string[][]> = await import(
  join(root, '.dependency-cruiser.mjs')
);
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const markdownIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter(name => name.endsWith('.md'))
    .map(name => join(folder, name));

const internals = markdownIn('docs/internals');
const documents = [
  ...[
    '.',
    'docs',
    ...['internals', 'reference', 'guides', 'operations', 'runbooks', 'security'].map(name => `docs/${name}`),
    ...['guides/ru', 'reference/ru'].map(name => `docs/${name}`),
  ],
  ...['bench', 'database', 'examples/shop', 'ops', 'sdk', 'sdk-cli', 'sdk-python', 'sdk-php'],
].flatMap(markdownIn);

/** As GitHub names headings. */
const anchorsOf = (text: string) =>
  Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** The headings of a translation have the anchors of those in English. */
const inEnglish = (path: string) =>
  path
    .replace(/^(docs\/(?:guides|reference))\/ru\//, '$1/')
    .replace(/^(sdk[\w-]*\/README)\.ru\.md$/, '$1.md');

const withoutCodeBlocks = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, '');

function danglingLinks(path: string): string[] {
  const links = [
    ...withoutCodeBlocks(read(path)).matchAll(/\]\(([^)\s]+)\)/g),
    ...read(path).matchAll(/<img src="([^"]+)"/g),
  ];
  return links
    .map(([, target = '']) => target)
    .filter(target => !/^(https?:|\/docs\/)/.test(target))
    .filter(target => {
      const [file = '', anchor] = target.split('#');
      const found = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(root, found))) return true;
      return anchor !== undefined && !anchorsOf(read(inEnglish(found))).includes(anchor);
    });
}

const folders = 'src|test|scripts|database|docs|ops|web|sdk(?:-\\w+)?|simulator|bench|examples';
/** `src/db/postgres/pool.ts`, `test/faults`, `docs/guides/*.md`; not `docs/guides/NAME.md`, which stands for many. */
const repositoryPath = new RegExp(`^(?:${folders})/[\\w./*-]*$`);

const isPattern = (path: string) => /\bNAME\b/.test(path);

const missingPaths = (path: string) =>
  Array.from(withoutCodeBlocks(read(path)).matchAll(/`([^`\n]+)`/g), ([, code = '']) => code)
    .filter(code => repositoryPath.test(code) && !isPattern(code))
    .filter(code => !existsSync(join(root, code.replace(/\*.*$/, ''))));

const scripts = Object.keys(JSON.parse(read('package.json')).scripts);
const missingScripts = (path: string) =>
  Array.from(read(path).matchAll(/npm run ([\w:-]+)/g), ([, name = '']) => name).filter(
    name => !scripts.includes(name),
  );

test.each(documents)('every relative link, path in backticks and npm script in %s exists', path => {
  expect({
    links: danglingLinks(path),
    paths: missingPaths(path),
    scripts: missingScripts(path),
  }).toEqual({ links: [], paths: [], scripts: [] });
});

test('ARCHITECTURE.md has at most 2 500 words', () => {
  expect(read('ARCHITECTURE.md').split(/\s+/).length).toBeLessThanOrEqual(2_500);
});

test('README.md has at most 150 lines', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
});

test('ARCHITECTURE.md has the layers of the dependency rules', () => {
  const table = read('ARCHITECTURE.md').split('<!-- layers -->')[1]!.split('<!-- /layers -->')[0]!;
  const rows = Array.from(table.matchAll(/^\| (\d+) \| ([^|]+) \|/gm), ([, layer, modules = '']) => [
    Number(layer),
    modules.trim().split(', '),
  ]);
  expect(rows).toEqual(layers.map((modules, layer) => [layer, modules]).reverse());
});

test('docs/internals/database.md has the parts of the dependency rules', () => {
  const table = read('docs/internals/database.md').split('<!-- parts -->')[1]!.split('<!-- /parts -->')[0]!;
  const rows = Array.from(table.matchAll(/^\| (\d+) \| ([\w-]+) \|/gm), ([, level, part = '']) => [
    Number(level),
    part,
  ]);
  expect(rows).toEqual(
    databaseParts
      .flatMap((parts, level) => parts.map(part => [level, part]))
      .sort(([left], [right]) => Number(right) - Number(left)),
  );
});

test('docs/internals/README.md lists every page of its folder', () => {
  const listed = read('docs/internals/README.md');
  for (const path of internals)
    if (!path.endsWith('README.md')) expect(listed).toContain(`](${path.slice(15)})`);
});

test('the glossary has 30 to 40 terms in alphabetical order, one line each', () => {
  const terms = read('docs/glossary.md').split('## Terms')[1]!.split('\n## ')[0]!;
  const names = Array.from(terms.matchAll(/^- \*\*(.+?)\*\*: \S.*\.$/gm), ([, name = '']) =>
    name.toLowerCase(),
  );
  expect(terms.trim().split('\n').length).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(30);
  expect(names.length).toBeLessThanOrEqual(40);
  expect(names).toEqual([...names].sort());
});

/** How many requirements of levels 1 and 2 each section of ASVS 5.0.0 has; those of level 3 come after them. */
const sections = `1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2 4.1:3 4.2:1 4.3:2
4.4:4 5.1:1 5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3 6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2 8.1:2 8.2:3 8.3:1
8.4:1 9.1:3 9.2:4 10.1:2 10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3 11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1 12.1:3 12.2:2
12.3:4 13.1:1 13.2:5 13.3:2 13.4:5 14.1:2 14.2:4 14.3:3 15.1:3 15.2:3 15.3:7 16.1:1 16.2:5 16.3:4 16.4:3 16.5:3 17.1:1 17.2:4
17.3:2`;
const numbers = sections.split(/\s+/).flatMap(section => {
  const [name, count] = section.split(':');
  return Array.from({ length: Number(count) }, (_, nth) => `${name}.${nth + 1}`);
});

describe('the table of ASVS 5.0', () => {
  const rows = [
    ...read('docs/security/asvs.md').matchAll(
      /^\| ([\d.]+)(?:–([\d.]+))? \| \S+ \| (.+) \| (.+) \| (.+) \|$/gm,
    ),
  ];

  test('has every requirement of levels 1 and 2 once, in order', () => {
    const covered = rows.flatMap(([, first, last = first]) =>
      numbers.slice(numbers.indexOf(first!), numbers.indexOf(last!) + 1),
    );
    expect(covered).toEqual(numbers);
  });

  test('says for each what shows it, or why not, and counts the states', () => {
    const counts = new Map<string, number>();
    for (const [, first, last = first, , state, where] of rows) {
      expect(state).toMatch(/^(met(, with .+)?|partly|not met here|not met|n\/a)$/);
      expect(where!.length, first).toBeGreaterThan(5);
      const key = state!.split(',')[0]!;
      const covered = numbers.indexOf(last!) - numbers.indexOf(first!) + 1;
      counts.set(key, (counts.get(key) ?? 0) + covered);
    }
    const summary = [...read('docs/security/asvs.md').matchAll(/^\| ([^|:]+?)(?::[^|]+)? \| (\d+) \|$/gm)];
    expect(Object.fromEntries(summary.map(([, state, count]) => [state, Number(count)]))).toEqual(
      Object.fromEntries(counts),
    );
  });
});
