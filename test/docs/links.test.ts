import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

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
  ],
  ...['bench', 'database', 'examples/shop', 'ops', 'sdk'],
].flatMap(markdownIn);

/** As GitHub names headings. */
const anchorsOf = (text: string) =>
  Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

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
      return anchor !== undefined && !anchorsOf(read(found)).includes(anchor);
    });
}

const folders = 'src|test|scripts|database|docs|ops|web|sdk|simulator|bench|examples';
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
