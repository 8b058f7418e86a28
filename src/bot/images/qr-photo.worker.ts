import { parentPort, workerData } from 'node:worker_threads';
import { readQrPhoto } from './qr-photo.ts';

/** Reads one photo and ends: whatever a stranger's file did to the decoder's memory ends with it. */
parentPort!.postMessage(readQrPhoto(Buffer.from(workerData as Uint8Array)));
