import * as stores from '../backup-store/index.ts';

/**
 * Removes all but the newest `keep` backups, and then the archived WAL before the first segment that a kept backup needs.
 * A backup becomes a draft before it loses files: one that is half removed is never taken for a complete one.
 */
export async function removeOldBackups(store: stores.BackupStore, keep: number) {
  const backups = await stores.listBackups(store);
  const old = backups.slice(0, Math.max(backups.length - keep, 0));
  for (const { id } of old) {
    const folder = stores.backupFolder(id);
    await store.drafts.reopen(folder, stores.manifestName);
    await store.removeFolder(store.drafts.pathOf(folder));
  }
  const needed = backups.slice(old.length).map(({ first_wal }) => positionOf(first_wal));
  return { backups: old.map(({ id }) => id), walFiles: await removeWalBefore(store, needed.sort()[0]) };
}

/** Without the timeline: a segment of any timeline at a later position may lead on from the backup. */
const positionOf = (name: string) => name.slice(8, 24);

async function removeWalBefore(store: stores.BackupStore, position: string | undefined): Promise<number> {
  if (position === undefined) return 0;
  // Histories of timelines stay: they are small, and every later backup needs them.
  const isOld = (name: string) => /^[0-9A-F]{24}\./.test(name) && positionOf(name) < position;
  const old = (await store.list(stores.walFolder)).filter(isOld);
  await stores.forEachFile(old, name => store.remove(`${stores.walFolder}/${name}`));
  return old.length;
}
