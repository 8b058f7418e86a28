import type { Sabotage } from './sabotage.ts';

/** Guards of backups and restores. */
export const backupSabotages: Sabotage[] = [
  {
    guard: 'an interrupted restore is not started',
    file: 'src/db/embedded/cluster.ts',
    pattern: /\n {2}refuseUnfinishedRestore\(dataDir\);/,
    test: 'test/db/backup.test.ts',
    failingTitle: 'a restore that was killed half way',
  },
  {
    guard: 'an interrupted backup is not listed',
    file: 'src/db/backup/store/folder-store.ts',
    pattern: /const unfinished = 'unfinished-';/,
    replacement: "const unfinished = '';",
    test: 'test/db/backup.test.ts',
    failingTitle: 'a backup that was killed half way',
  },
  {
    guard: 'damaged WAL is not the end of the WAL',
    file: 'src/cli/wal.ts',
    pattern: /const mustStop = 200;/,
    replacement: 'const mustStop = 1;',
    test: 'test/db/wal-files.test.ts',
    failingTitle: 'a missing file ends the recovery',
  },
  {
    guard: 'archived WAL is never replaced',
    file: 'src/db/backup/store/folder-store.ts',
    pattern: /await fs\.link\(draft, path\);/,
    replacement: 'await fs.rename(draft, path);',
    test: 'test/db/wal-files.test.ts',
    failingTitle: 'a different file of the same name',
  },
  {
    guard: 'a backup writes nothing outside of its folder',
    file: 'src/db/backup/manifest.ts',
    pattern: /\['', '\.', '\.\.'\]\.includes\(part\)/,
    replacement: "part === 'never'",
    test: 'test/db/restore.test.ts',
    failingTitle: 'a backup whose list names a path outside',
  },
  {
    guard: 'a damaged record is not the end of the WAL',
    file: 'src/db/backup/recovery.ts',
    pattern: / && !invalidRecord\.test\(output\)/,
    test: 'test/db/restore.test.ts',
    failingTitle: 'damaged WAL in a file that can be read',
  },
  {
    guard: 'retention keeps the WAL of kept backups',
    file: 'src/db/backup/retention.ts',
    pattern: /needed\.sort\(\)\[0\]/,
    replacement: 'needed.sort().at(-1)',
    test: 'test/db/backup.test.ts',
    failingTitle: '--keep removes the oldest',
  },
];
