import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PNG } from 'pngjs';
import { prepareZXingModule, type ReaderOptions, readBarcodes } from 'zxing-wasm/reader';
import { formatWithinLimits } from './image-limits.ts';
import type { QrReading } from './qr-reader.ts';

// By default the library downloads this file from a CDN when it reads the first image.
const wasmPath = createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm');
prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(readFileSync(wasmPath)).buffer } });

const options: ReaderOptions = { formats: ['QRCode'], maxNumberOfSymbols: 1 };

/**
 * The text of the QR code in a JPEG or PNG; undefined if there is none, or the file is no image.
 * The file is untrusted and can keep the decoder busy for long: run this in a thread that can be terminated.
 */
export async function readQrPhoto(image: Buffer): Promise<QrReading> {
  const format = formatWithinLimits(image);
  if (format === 'too_large') return { outcome: 'too_large' };
  if (!format) return { outcome: 'read', text: undefined };
  try {
    const [result] = await readBarcodes(format === 'png' ? decodePng(image) : image, options);
    return { outcome: 'read', text: result?.isValid && result.text !== '' ? result.text : undefined };
  } catch {
    return { outcome: 'read', text: undefined };
  }
}

/** The library's own PNG decoder ignores opacity: a code without a background would be black on black. */
function decodePng(image: Buffer) {
  const { width, height, data } = PNG.sync.read(image);
  // In place: a copy would take another 48 MB.
  const flat = new Uint8ClampedArray(data.buffer as ArrayBuffer, data.byteOffset, data.length);
  for (let at = 0; at < data.length; at += 4) {
    const opacity = data[at + 3]! / 255;
    for (let channel = at; channel < at + 3; channel++)
      flat[channel] = 255 + (flat[channel]! - 255) * opacity;
    flat[at + 3] = 255;
  }
  return { width, height, data: flat };
}
