import { expect, test } from 'vitest';
import { startRuns } from './fixture.ts';

const { run, planOtherwise, verify } = await startRuns();

/** `npm run sabotage` needs some of these: in 10, 17, 59 and 87 the bank side returns more than was paid. */
const seeds = [...Array.from({ length: 30 }, (_, index) => index + 1), 32, 59, 87];
const seedsThatGoBack = [3, 11, 19];

test('whatever goes wrong, no rule about money or events is broken', async () => {
  for (const seed of seeds) await run(seed, { keepsHistory: true });
  // An order that was refused is voided before the refusal is on record.
  await run(2000, { maxPayments: 24 });
  await verify();
});

test('nor when the database goes back and the bank does not', async () => {
  for (const seed of seedsThatGoBack) expect((await run(seed)).losses).toBeGreaterThan(0);
  await verify();
});

test('a run depends neither on those before it nor on the order in which PostgreSQL returns rows', async () => {
  const runs = [1, 10, 14, 1004].map(seed => [seed, { maxPayments: seed === 1004 ? 100 : 20 }] as const);
  const traces: string[][] = [];
  for (const one of runs) traces.push((await run(...one)).trace);
  await planOtherwise();
  for (const [nth, one] of runs.entries()) expect((await run(...one)).trace).toEqual(traces[nth]);
});
