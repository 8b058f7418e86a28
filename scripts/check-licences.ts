/**
 * `npm run licences`: every package that is part of an installation has a licence that allows our use of it. Reads the lock
 * file, so it needs no installed packages and covers those of other platforms.
 */
import { readFileSync } from 'node:fs';
import { describeLicences, findForeignLicences, type LockedPackage } from './licences.ts';

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, LockedPackage>;
};
const foreign = findForeignLicences(packages);
for (const { path, licence } of foreign)
  console.error(`${path}  ${licence ?? 'no licence'}  is not in the list of scripts/licences.ts`);
if (foreign.length > 0) process.exitCode = 1;
else if (process.argv.includes('--list')) console.log(describeLicences(packages));
