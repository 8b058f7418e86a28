import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isEvmNodeInstalled } from '../../helpers/evm-node.ts';
import { createRandom } from '../../helpers/random.ts';
import { endLease, expectEachOnce, isEndOfRange, killWatcher, start } from './crash-world.ts';
import { confirmations, startRealWorld } from './world.ts';

describe.skipIf(!isEvmNodeInstalled)('kopeck start and a real node', () => {
  test.each([
    ['while it reads', undefined],
    ['after it has read, with the cursor moved', 'deposits'],
  ])('kill -9 %s: nothing is booked, and the next process credits each deposit once', (_when, table) =>
    killWatcher(table, []),
  );

  test('two processes watch at once and are killed at random moments: each deposit is credited once', async () => {
    const world = await startRealWorld();
    const random = createRandom(1);
    const partners = await Promise.all(Array.from({ length: 4 }, world.newPartner));
    // Nobody is kept from watching: both do, all the time.
    const freeing = setInterval(() => void endLease(world).catch(() => {}), 50);
    onTestFinished(() => clearInterval(freeing));
    const sent = new Map<string, bigint[]>();
    const depositMany = async () => {
      for (let block = 0; block < 2; block++) {
        for (let nth = 0; nth < 3; nth++) {
          const transfers = Array.from({ length: 3 }, () => ({
            account: random.pick(partners).account,
            units: BigInt(random.between(1_000_000, 9_000_000)),
          }));
          const units = transfers.map(transfer => transfer.units);
          sent.set(await world.node.send(world.token, transfers), units);
        }
        await world.node.mine();
      }
      await world.node.mine(confirmations);
    };
    const lastKill = 2;
    for (let kill = 0; kill <= lastKill; kill++) {
      await depositMany();
      const before = await world.cursor();
      const reached = world.proxy.holdNext(isEndOfRange());
      const pair = [start(world), start(world)];
      (await reached).release();
      // The last time: right after one of them has booked.
      if (kill === lastKill) await expect.poll(world.cursor, { interval: 5 }).toBeGreaterThan(before);
      else await sleep(random.between(0, 1_000));
      await Promise.all(pair.map(async service => (await service).stop('SIGKILL')));
    }
    await depositMany();
    await Promise.all([start(world), start(world)]);
    const final = (await world.node.head()) - BigInt(confirmations);
    await expect.poll(world.cursor).toBe(final);
    await expect.poll(world.areCredited).toBe(true);
    await expectEachOnce(world, sent);
  });
});
