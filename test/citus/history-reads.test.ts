import { describe, expect, test } from 'vitest';
import { createShopOfThePast } from '../payments/archive-shop.ts';
import { isCitusAvailable } from './available.ts';
import { createHistory } from './history-world.ts';
import { startCitus } from './start.ts';

describe.runIf(isCitusAvailable)('an archive on the workers', async () => {
  if (!isCitusAvailable) return;
  const citus = await startCitus();
  const world = await createHistory(citus, 'reads');
  const { everything } = await createShopOfThePast(world.pool, world);

  test('gives the same answers as a local one, byte for byte, before, while and after it is moved', async () => {
    const before = await everything();
    await world.archive('2026-02');
    expect(await everything()).toEqual(before);
    expect(await world.distribute()).toEqual({ outcome: 'distributed', rows: 21, workers: 2 });
    expect(await everything()).toEqual(before);
    expect(await world.findings()).toEqual([]);
  });
});
