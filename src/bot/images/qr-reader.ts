import { Worker } from 'node:worker_threads';

/** Reading takes up to seconds of a whole core, so that only so many people wait for it. */
const mostWaiting = 10;
const mostMemoryMb = 512;

export type PhotoReading = { outcome: 'read'; text: string | undefined } | { outcome: 'busy' };

export interface QrReader {
  /** Loads the photo when its turn has come, so that those who wait take up no memory; a busy reader loads nothing. */
  read(load: () => Promise<Buffer | undefined>): Promise<PhotoReading>;
}

/** Reads the QR codes of photos outside this thread, one after the other. */
export function createQrReader(): QrReader {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    read: async load => {
      if (waiting >= mostWaiting) return { outcome: 'busy' };
      waiting += 1;
      const reading = last.then(load).then(photo => photo && readInThread(photo));
      last = reading.catch(() => {});
      try {
        return { outcome: 'read', text: await reading };
      } finally {
        waiting -= 1;
      }
    },
  };
}

/** A thread that breaks down has read nothing. */
function readInThread(photo: Buffer): Promise<string | undefined> {
  const worker = new Worker(new URL('./qr-photo.worker.ts', import.meta.url), {
    workerData: new Uint8Array(photo),
    resourceLimits: { maxOldGenerationSizeMb: mostMemoryMb },
  });
  return new Promise(resolve => {
    worker.once('message', resolve);
    worker.once('error', () => resolve(undefined));
    worker.once('exit', () => resolve(undefined));
  });
}
