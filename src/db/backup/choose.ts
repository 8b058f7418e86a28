import { OperatorError } from '../../base/operator-error.ts';
import { type BackupStore, findBackup, listBackups, type Manifest } from '../backup-store/index.ts';
import { findChain, type WalChain } from './wal-chain.ts';

/** The backup to restore from: the one with this id, or the newest that was complete at this time. */
export async function chooseBackup(
  from: BackupStore,
  { id, at }: { id?: string | undefined; at?: Date | undefined },
): Promise<{ backup: Manifest; chain: WalChain }> {
  const backup = await chooseByTime(from, id, at);
  const chain = await findChain(from, backup);
  if (chain.missing && !at)
    throw new OperatorError(
      `WAL segment ${chain.missing} is missing in ${from.address}/wal although later ones are there: restore to a time before it with --at, or from a later backup.`,
    );
  return { backup, chain };
}

async function chooseByTime(
  from: BackupStore,
  id: string | undefined,
  at: Date | undefined,
): Promise<Manifest> {
  const newest = await findBackup(from, id);
  if (!at) return newest;
  const isComplete = ({ finished_at }: Manifest) => Date.parse(finished_at) <= at.getTime();
  const all = id === undefined ? await listBackups(from) : [newest];
  const found = all.findLast(isComplete);
  if (found) return found;
  throw new OperatorError(
    `No backup was complete at ${at.toISOString()}: the first time that can be restored is ${all[0]!.finished_at}.`,
  );
}
