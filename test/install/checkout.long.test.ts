import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkOut, npm, startAndPay } from './packed.ts';

const folder = checkOut();
const isInstalled = npm(['install', '--omit=dev'], folder);

test.runIf(isInstalled)(
  'a checkout pays after npm install --omit=dev; its console says how to build it',
  async () => {
    expect(await startAndPay(join(folder, 'bin/kopeck'))).toEqual({
      statuses: { test: 'succeeded', live: 'succeeded' },
      pages: [200, 200, 503],
      exitCode: 0,
    });
  },
);
