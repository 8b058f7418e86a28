/**
 * `npm pack` runs this first: it fills `dist` with what an installed package needs besides `bin`, in the same folders as
 * in the repository. Node runs the source of a checkout as it is, but refuses TypeScript inside node_modules. So the types
 * are removed here, by Node's own function: the package runs the same code, with the same line numbers in its errors.
 */
import * as fs from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

/** What the service reads while it runs. The pages of the console and the portal are built by `npm run build`. */
const parts = [
  'src',
  'simulator',
  'database/migrations',
  'database/functions',
  'database/from-0.1.sql',
  'database/functions.lock',
  'database/guards.sql',
  'database/previous-release',
  'docs/guides',
  'docs/reference/api-changelog.md',
  'docs/reference/ru',
  'sdk/README.md',
  'sdk/README.ru.md',
  'sdk-cli/README.md',
  'sdk-cli/README.ru.md',
  'sdk-php/README.md',
  'sdk-php/README.ru.md',
  'sdk-python/README.md',
  'sdk-python/README.ru.md',
  'sdk/src',
  'web/dist',
  'package.json',
];

/** Names of our own files in code: imports, and the programs and threads that it starts. */
const ownFile = /(?<quote>['"])(?<name>[\w./-]+)\.ts\k<quote>/g;

const renamed = (code: string) => code.replaceAll(ownFile, '$<quote>$<name>.js$<quote>');

function copy(name: string): void {
  const source = join(root, name);
  if (fs.statSync(source).isDirectory()) {
    for (const entry of fs.readdirSync(source)) copy(join(name, entry));
    return;
  }
  const target = join(dist, name);
  fs.mkdirSync(dirname(target), { recursive: true });
  const isCode = /^(src|simulator|sdk)\//.test(name);
  if (isCode && name.endsWith('.ts')) {
    const code = stripTypeScriptTypes(fs.readFileSync(source, 'utf8'));
    fs.writeFileSync(target.replace(/\.ts$/, '.js'), renamed(code));
  } else if (isCode && name.endsWith('.js')) {
    fs.writeFileSync(target, renamed(fs.readFileSync(source, 'utf8')));
  } else {
    fs.copyFileSync(source, target);
  }
}

if (!fs.existsSync(join(root, 'web', 'dist', 'index.html')))
  throw new Error('The pages of the console are not built: run npm run build.');
fs.rmSync(dist, { recursive: true, force: true });
for (const part of parts) copy(part);
