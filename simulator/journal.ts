import { createReadStream, existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * An append-only file of JSON lines. Records appended during a write share the next one, so many requests share one
 * fsync.
 */
export async function openJournal<Recorded>(
  path: string,
  replay: (record: Recorded) => void,
  onDiskFailure: (error: unknown) => void,
) {
  const isNew = !existsSync(path);
  const completeBytes = isNew ? 0 : await readRecords(path, replay);
  const file = await open(path, 'a', 0o600);
  await file.truncate(completeBytes);
  if (isNew) await syncFolder(dirname(path));

  let waiting = '';
  let underWay: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function write(): Promise<void> {
    const lines = waiting;
    [waiting, underWay, next] = ['', next, undefined];
    try {
      await file.appendFile(lines);
      await file.datasync();
    } catch (error) {
      // Memory is ahead of the disk now; only a restart makes them agree again.
      onDiskFailure(error);
      throw error;
    }
    underWay = undefined;
  }

  return {
    append: (record: object): void => {
      waiting += `${JSON.stringify(record)}\n`;
    },
    /** Resolves when everything appended so far is on disk. */
    flushed: (): Promise<void> => {
      if (waiting !== '') next ??= (underWay ?? Promise.resolve()).then(write);
      return next ?? underWay ?? Promise.resolve();
    },
    close: () => file.close(),
  };
}

/**
 * Returns how many bytes are complete records. kill -9 may cut off the last one: it was never answered, so it is
 * dropped. A broken line before the end is damage and stops the start.
 */
async function readRecords<Recorded>(path: string, replay: (record: Recorded) => void): Promise<number> {
  let rest = Buffer.alloc(0);
  let completeBytes = 0;
  let lineNumber = 0;
  let isBroken = false;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    const bytes = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', start)) {
      if (isBroken)
        throw new Error(`${path} is damaged at line ${lineNumber}: move it away to start afresh.`);
      lineNumber++;
      const record = parse<Recorded>(bytes.toString('utf8', start, end));
      isBroken = record === undefined;
      if (record !== undefined) {
        replay(record);
        completeBytes += end + 1 - start;
      }
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  return completeBytes;
}

function parse<Recorded>(line: string): Recorded | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync();
  await folder.close();
}
