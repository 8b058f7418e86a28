import { expect, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { restoreCredits } from '../../src/deposits/index.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { inShardOf } from '../helpers/shards.ts';
import { startDepositWorld } from './world.ts';

const usdt = 1_000_000n;

// On Citus a shard is changed from the coordinator, where triggers of a worker cannot be switched off.
test.skipIf(process.env.KOPECK_TEST_CITUS)(
  'credits that a worker has lost are made again, each once and nothing else',
  async () => {
    const world = await startDepositWorld();
    const { pool, clock, chain } = world;
    const [loser, other] = [await world.newPartner(), await world.newPartner()];
    // The first two are too small alone, and are one credit.
    for (const [to, units] of [
      [loser, usdt / 2n],
      [loser, usdt],
      [loser, 25n * usdt],
      [other, 7n * usdt],
    ] as const) {
      chain.mine([{ to: to.account, units }]);
      await world.settle();
    }
    const balances = () => Promise.all([loser, other].map(one => world.balanceOf(one.partnerId)));
    const before = await balances();
    expect(before).toEqual([26n * usdt + usdt / 2n, 7n * usdt]);

    const lines: string[] = [];
    const note = (_: object, line: string) => void lines.push(line);
    const restore = () =>
      restoreCredits({ pool, clock, log: { warn: note, error: note } }, new Date(clock.nowMs()));
    await restore();
    expect([await balances(), lines]).toEqual([before, []]);

    await loseCredits(loser.partnerId);
    expect(await balances()).toEqual([0n, before[1]]);
    await restore();
    await restore();
    expect(await balances()).toEqual(before);
    expect(lines).toEqual(Array(2).fill('a lost credit of a deposit was made again'));
    expect((await verifyLedger(pool)).findings).toEqual([]);

    function loseCredits(partnerId: Id<'prt'>): Promise<unknown> {
      const values = [uuidFromId(partnerId)];
      return inShardOf(pool, partnerId, async tx => {
        await tx.query({ text: 'SET LOCAL session_replication_role = replica' });
        await tx.query({ text: 'ALTER TABLE entries DISABLE TRIGGER USER' });
        await tx.query({ text: 'DELETE FROM entries WHERE partner_id = $1', values });
        await tx.query({
          text: `UPDATE accounts SET topup = 0, treasury = 0, available = 0, entry_count = 0, last_entry_at = DEFAULT
                  WHERE partner_id = $1`,
          values,
        });
      });
    }
  },
);
