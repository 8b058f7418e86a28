import { ifThere, type Pieces } from './files.ts';

/**
 * Where backups are kept. Paths are relative to it, with slashes; `layout.ts` says what is where. What a call has written
 * is on disk when it returns.
 */
export interface BackupStore {
  /** As the operator writes it. */
  readonly address: string;
  /** Variables with which a process that PostgreSQL starts can open it too. */
  readonly environment: Record<string, string>;
  /** The names of what is directly in the folder; none if it does not exist. */
  list(folder: string): Promise<string[]>;
  /** Undefined if there is no such file. */
  find(path: string): Promise<{ modifiedAt: Date } | undefined>;
  /** Each piece is valid until the next one is read. Fails with ENOENT if there is no such file. */
  read(path: string): AsyncIterable<Buffer>;
  /** Copies a file out of it, without syncing. */
  copyTo(path: string, target: string): Promise<void>;
  /** A new file of a draft. */
  write(path: string, pieces: Pieces): Promise<void>;
  /** A file that is there as a whole or not at all. False if there is one already: it is never replaced. */
  writeNew(path: string, content: Buffer): Promise<boolean>;
  remove(path: string): Promise<void>;
  /** With everything in it. */
  removeFolder(folder: string): Promise<void>;
  readonly drafts: Drafts;
}

/** A folder that is being written, or being removed, is a draft: it has no last file, or another name. */
export interface Drafts {
  /** Where the files of the folder are until it is complete. */
  pathOf(folder: string): string;
  /** The paths of all drafts in the folder `parent`. */
  list(parent: string, lastFile: string): Promise<string[]>;
  /** Refuses if there is not enough space. */
  begin(folder: string, content: { folders: string[]; bytes: number }): Promise<void>;
  /** In one step: a draft that was interrupted is never taken for a complete folder. */
  complete(folder: string, lastFile: string, content: Buffer): Promise<void>;
  /** The opposite, in one step too; before the folder is removed. */
  reopen(folder: string, lastFile: string): Promise<void>;
}

/** Undefined if there is no such file. */
export async function readAll(store: BackupStore, path: string): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  const copyAll = async () => {
    for await (const piece of store.read(path)) pieces.push(Buffer.from(piece));
    return Buffer.concat(pieces);
  };
  return ifThere(copyAll());
}
