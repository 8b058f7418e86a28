import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { setRate } from '../helpers/partners.ts';
import { describeInBrowser, openWorld } from './world.ts';

const mostBytes = 300_000;

describeInBrowser('first load', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);

  test('sign-in and overview load few bytes, with either compression', async () => {
    await setRate(pool);
    const visitor = await world.visit();
    const operator = await world.as('viewer');
    const addresses = new Set<string>();
    for (const page of [visitor, operator])
      page.on('requestfinished', request => {
        if (!request.url().includes('/console/api/')) addresses.add(request.url());
      });
    await visitor.goto('/console/', { waitUntil: 'networkidle' });
    await visitor.getByRole('button', { name: 'Sign in' }).waitFor();
    await operator.goto('/console/', { waitUntil: 'networkidle' });
    await operator.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(addresses.size).toBeGreaterThan(4);
    for (const encoding of ['br', 'gzip'] as const) {
      const sizes = await Promise.all([...addresses].map(address => sizeOf(address, encoding)));
      const bytes = sizes.reduce((all, one) => all + one, 0);
      console.log(`first load: ${addresses.size} files, ${(bytes / 1000).toFixed(1)} kB ${encoding}`);
      expect(bytes).toBeLessThan(mostBytes);
    }
  });
});

/** The size on the wire; an uncompressed answer counts as it is. */
async function sizeOf(address: string, encoding: 'br' | 'gzip'): Promise<number> {
  const response = await fetch(address, { headers: { 'accept-encoding': encoding } });
  const body = Buffer.from(await response.arrayBuffer());
  const isCompressed = response.headers.get('content-encoding') === encoding;
  if (!isCompressed) return body.length;
  // `fetch` has decompressed it; the header has the size, unless it was chunked.
  const length = response.headers.get('content-length');
  if (length) return Number(length);
  return (encoding === 'br' ? brotliCompressSync(body) : gzipSync(body)).length;
}
