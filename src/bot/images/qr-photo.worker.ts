import { parentPort, workerData } from 'node:worker_threads';
import { readQrPhoto } from './qr-photo.ts';

/** Reads one photo and ends, so that an untrusted file cannot leave anything behind in the decoder's memory. */
parentPort!.postMessage(await readQrPhoto(Buffer.from(workerData as Uint8Array)));
