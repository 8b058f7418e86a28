import { citusArchive } from './archive.ts';

export const isCitusAvailable = citusArchive !== undefined;

if (!isCitusAvailable)
  console.warn(
    '\n!!! There is no Citus for this machine: its tests are SKIPPED. Set CITUS_ARCHIVE (docs/internals/testing.md).\n',
  );
