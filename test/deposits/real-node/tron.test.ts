import { describe, expect, test } from 'vitest';
import { parseAccount } from '../../../src/deposits/chain/open-chain.ts';
import { isEvmNodeInstalled } from '../../helpers/evm-node.ts';
import { asTron, notSolid } from './tron-node.ts';
import { startRealWorld, usdt } from './world.ts';

/** The chain id is that of TRON. */
const byDefault = { DEPOSIT_TRON_CHAIN_ID: '', DEPOSIT_TRON_CONFIRMATIONS: '' };
const startTronWorld = () => startRealWorld({ name: 'tron', env: byDefault, interfere: asTron });

describe.skipIf(!isEvmNodeInstalled)('a real node that answers as one of TRON', () => {
  test('a deposit to an address T… is credited when its block is solid', async () => {
    const world = await startTronWorld();
    const { partnerId, account, address } = await world.newPartner();
    expect(address).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/);
    expect(parseAccount('base58', address)).toBe(account);
    const hash = await world.node.send(world.token, [
      { account, units: 4n * usdt },
      { account: world.token, units: 6n * usdt },
      { account, units: 5n * usdt },
    ]);
    await world.node.mine();
    await world.round();
    expect(await world.states()).toEqual(['pending 4000000', 'pending 5000000']);
    await world.node.mine(Number(notSolid) - 1);
    await world.round();
    expect(await world.balanceOf(partnerId)).toBe(0n);
    await world.node.mine();
    await world.round();
    await world.round();
    expect(await world.balanceOf(partnerId)).toBe(9n * usdt);
    expect(await world.alarmKinds()).toEqual([]);
    const { rows } = await world.pool.query('SELECT transaction, block_hash, sender FROM deposits');
    expect(rows[0].transaction).toBe(hash);
    expect(rows[0].block_hash).toMatch(/^0x0{12}/);
    expect(rows[0].sender).toMatch(/^T/);
  });

  test('more addresses than a request may have topics', async () => {
    const { node, token, ...world } = await startTronWorld();
    const { partnerId, account } = await world.newPartner();
    await world.pool.query(
      `INSERT INTO deposit_addresses (partner_id, chain, address, account, path, created_at)
       SELECT gen_random_uuid(), 'tron', 'T' || n, '0x' || lpad(to_hex(n), 40, '0'), 'm/0/' || n, now()
         FROM generate_series(1, 1001) AS n`,
    );
    await node.send(token, [{ account, units: 4n * usdt }]);
    await world.settle();
    await world.settle();
    expect(await world.balanceOf(partnerId)).toBe(4n * usdt);
    expect(await world.alarmKinds()).toEqual([]);
  });
});
