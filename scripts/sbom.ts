/**
 * `npm run sbom`: writes sbom.json, a CycloneDX list of all packages that an installation contains. The tool is installed apart,
 * because it is needed only here and brings many packages with it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const tool = '@cyclonedx/cyclonedx-npm@6.0.1';
const folder = join('node_modules', '.cache', 'cyclonedx');
const program = join(folder, 'node_modules', '@cyclonedx', 'cyclonedx-npm', 'bin', 'cyclonedx-npm-cli.js');
const output = 'sbom.json';

function run(command: string, args: string[]): void {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) {
    console.error(`${command} ${args[0]} failed: no SBOM was written.`);
    process.exit(1);
  }
}

if (!existsSync(program))
  run('npm', ['install', '--loglevel=error', '--no-save', '--no-package-lock', '--prefix', folder, tool]);
run(process.execPath, [
  program,
  ...['--omit', 'dev', '--package-lock-only', '--output-reproducible', '--output-format', 'JSON'],
  ...['--output-file', output],
]);
const { components, specVersion } = JSON.parse(readFileSync(output, 'utf8')) as {
  components: unknown[];
  specVersion: string;
};
console.log(`${output}: ${components.length} packages, CycloneDX ${specVersion}`);
