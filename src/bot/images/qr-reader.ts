import { Worker } from 'node:worker_threads';
import { createConcurrencyLimit } from '../../base/concurrency-limit.ts';

/** Backpressure: one photo can take seconds of a whole core, so the queue is short. */
const maxQueued = 10;
/** Queued or being read: nobody's photos take the places of others. */
const maxPerUser = 1;
const maxMemoryMb = 512;
/** The largest allowed photo takes about a second; a crafted file can take hours. */
const defaultTimeoutMs = 8_000;

export type PhotoReading = { outcome: 'read'; text: string | undefined } | { outcome: 'busy' };

export interface QrReader {
  /** Loads a photo only when its turn comes, so queued photos take no memory; a busy reader loads nothing. */
  read(userId: bigint, load: () => Promise<Buffer | undefined>): Promise<PhotoReading>;
}

/** Reads the QR codes of photos in worker threads, one after the other. */
export function createQrReader({ timeoutMs = defaultTimeoutMs } = {}): QrReader {
  const underWay = createConcurrencyLimit();
  let queued = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    read: async (userId, load) => {
      if (queued >= maxQueued) return { outcome: 'busy' };
      const leave = underWay.enter(`${userId}`, maxPerUser);
      if (!leave) return { outcome: 'busy' };
      queued += 1;
      const reading = last.then(load).then(photo => photo && readInThread(photo, timeoutMs));
      last = reading.catch(() => {});
      try {
        return { outcome: 'read', text: await reading };
      } finally {
        queued -= 1;
        leave();
      }
    },
  };
}

/** A thread that fails or takes too long counts as no code found. */
async function readInThread(photo: Buffer, timeoutMs: number): Promise<string | undefined> {
  const worker = new Worker(new URL('./qr-photo.worker.ts', import.meta.url), {
    workerData: new Uint8Array(photo),
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb },
  });
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  worker.once('message', resolve);
  worker.once('error', () => resolve(undefined));
  worker.once('exit', () => resolve(undefined));
  const timeout = setTimeout(() => resolve(undefined), timeoutMs);
  try {
    return await promise;
  } finally {
    clearTimeout(timeout);
    await worker.terminate();
  }
}
