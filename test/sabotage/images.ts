import type { Sabotage } from './sabotage.ts';

const limits = { file: 'src/bot/images/image-limits.ts', test: 'test/bot/qr-photo.test.ts' };
const mutex = { file: 'src/runtime/cluster-mutex.ts', test: 'test/runtime/image-mutex.test.ts' };

/** Guards of memory against untrusted images. */
export const imageSabotages: Sabotage[] = [
  {
    guard: 'pixels of a PNG',
    ...limits,
    pattern: /width \* height > maxPixels \|\| /,
    replacement: '',
    failingTitle: 'a PNG that says it is huge',
  },
  {
    guard: 'bits a channel of a PNG',
    ...limits,
    pattern: / \|\| header\.body\[8\]! > maxBitDepth/,
    replacement: '',
    failingTitle: '16 bits a channel',
  },
  {
    guard: 'a photo is decoded under the lock',
    file: 'src/bot/images/qr-reader.ts',
    test: 'test/bot/qr-reader.test.ts',
    pattern: /const release = await acquireImageLock\(\);/,
    replacement: 'const release = () => {};',
    failingTitle: 'readers that share a lock',
  },
  {
    guard: 'one process has the lock of images',
    ...mutex,
    pattern: /const release = await acquire\(\);/,
    replacement: 'const release = () => {};',
    failingTitle: 'one process of the machine has the lock',
  },
  {
    guard: 'a process that dies releases the lock',
    ...mutex,
    pattern: /for \(const release of own\.values\(\)\) release\(\);/,
    replacement: '',
    failingTitle: 'a process that dies releases the lock',
  },
];
