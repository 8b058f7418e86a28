import { expect, test } from 'vitest';
import { failovers } from './all.ts';

/** The other scenarios are in `npm run failover`. */
test('every payment that partners know is there after a standby without the last commits was promoted', async () => {
  const { findings } = await failovers['lost-commits']!(1);
  expect(findings).toEqual([]);
});
