import { Worker } from 'node:worker_threads';
import type { Clock } from '../../base/clock.ts';
import { createConcurrencyLimit } from '../../base/concurrency-limit.ts';
import type { Acquire } from '../../base/mutex.ts';

/** Backpressure: one photo can take seconds of a whole core, so the queue is short. */
const maxQueued = 10;
/** Queued or being read: nobody's photos take the places of others. */
const maxPerUser = 1;
/** The heap's. Pixels are outside of it: the limits on images bound them. */
const maxMemoryMb = 128;
/** The largest allowed photo takes about a second; a crafted file can take hours. */
const defaultTimeoutMs = 8_000;

/** What a photo says; undefined: it has no code. */
export type QrReading = { outcome: 'read'; text: string | undefined } | { outcome: 'too_large' };
export type PhotoReading = QrReading | { outcome: 'busy' };
const noCode: QrReading = { outcome: 'read', text: undefined };

export type QrReader = ReturnType<typeof createQrReader>;

/** Reads the QR codes of photos in worker threads, one after the other over all processes of the machine. */
export function createQrReader({
  clock,
  acquireImageLock,
  timeoutMs = defaultTimeoutMs,
}: {
  clock: Clock;
  acquireImageLock: Acquire;
  timeoutMs?: number;
}) {
  const readAlone = async (photo: Buffer) => {
    const release = await acquireImageLock();
    return readInThread(clock, photo, timeoutMs).finally(release);
  };
  const underWay = createConcurrencyLimit();
  let queued = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    /** Loads a photo only when its turn comes, so queued photos take no memory; a busy reader loads nothing. */
    read: async (userId: bigint, load: () => Promise<Buffer | undefined>): Promise<PhotoReading> => {
      if (queued >= maxQueued) return { outcome: 'busy' };
      const leave = underWay.enter(`${userId}`, maxPerUser);
      if (!leave) return { outcome: 'busy' };
      queued += 1;
      // Loaded before the lock: other processes do not wait for Telegram.
      const reading = last.then(load).then(photo => (photo ? readAlone(photo) : noCode));
      last = reading.catch(() => {});
      try {
        return await reading;
      } finally {
        queued -= 1;
        leave();
      }
    },
  };
}

/** A thread that fails or takes too long counts as no code found. */
async function readInThread(clock: Clock, photo: Buffer, timeoutMs: number): Promise<QrReading> {
  const worker = new Worker(new URL('./qr-photo.worker.ts', import.meta.url), {
    workerData: new Uint8Array(photo),
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb },
  });
  const { promise, resolve } = Promise.withResolvers<QrReading>();
  worker.once('message', resolve);
  worker.once('error', () => resolve(noCode));
  worker.once('exit', () => resolve(noCode));
  const cancelTimeout = clock.timer(timeoutMs, () => resolve(noCode));
  try {
    return await promise;
  } finally {
    cancelTimeout();
    await worker.terminate();
  }
}
