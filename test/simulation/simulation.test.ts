import { expect, test } from 'vitest';
import { startRuns } from './fixture.ts';

const { run, verify } = await startRuns();

/** `npm run sabotage` needs some of these: in 10, 17, 59 and 87 the bank side returns more than was paid. */
const seeds = [...Array.from({ length: 30 }, (_, index) => index + 1), 32, 59, 87];
const seedsThatGoBack = [3, 11, 19];

test('whatever goes wrong, no rule about money or events is broken', async () => {
  for (const seed of seeds) await run(seed, { keepsHistory: true });
  await verify();
});

test('nor when the database goes back and the bank does not', async () => {
  for (const seed of seedsThatGoBack) expect((await run(seed)).losses).toBeGreaterThan(0);
  await verify();
});

test.each([1, 10, 14])('seed %i gives the same run every time', async seed => {
  const first = await run(seed);
  expect((await run(seed)).trace).toEqual(first.trace);
});
