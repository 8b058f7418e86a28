import { expect, test } from 'vitest';
import { idFromUuid, parseId, uuidFromId } from '../../src/base/ids.ts';
import { xpub } from '../deposits/world.ts';
import { createChain, startNode } from '../helpers/chain.ts';
import { kopeck } from '../helpers/cli.ts';
import { commandLineOf, createCommandLine } from './command-line.ts';

const { pool, url, dataDir, partner, expectRefusal: expectRefusalWithout } = await createCommandLine();
const node = 'https://node.example/key-of-the-node';
const env = {
  ...{ DATABASE_URL: url, DATA_DIR: dataDir, DEPOSIT_CHAINS: 'tron,ethereum' },
  ...{ DEPOSIT_TRON_RPC: node, DEPOSIT_TRON_XPUB: xpub },
  ...{ DEPOSIT_ETHEREUM_RPC: node, DEPOSIT_ETHEREUM_XPUB: xpub },
};
const { run, runJson, expectRefusal } = commandLineOf(env, 'deposit');

/** A chain with a node, and commands about it. */
async function startChain() {
  const chain = createChain();
  const node = await startNode(chain);
  const ask = (command: string, ...args: string[]) =>
    kopeck({ ...env, DEPOSIT_ETHEREUM_RPC: node.url }, `deposit ${command}`, ...args);
  return { chain, node, ask };
}

test('addresses of a partner, on all chains or one, once they are watched', async () => {
  await expectRefusal(1, /^No chain is watched yet/, `address ${partner}`);
  await pool.query(
    `INSERT INTO deposit_chains (chain, cursor_block, cursor_hash, cursor_time, final_block, checked_at, lease_until)
     SELECT unnest('{tron,ethereum}'::text[]), 1, '0x01', now(), 1, now(), now()`,
  );
  const { addresses } = await runJson(`address ${partner}`);
  const path = expect.stringMatching(/^m\/\d+\/\d+$/);
  expect(addresses).toMatchObject([
    { chain: 'tron', address: expect.stringMatching(/^T\w{33}$/), path },
    { chain: 'ethereum', address: expect.stringMatching(/^0x\w{40}$/), min_usdt: '1.000000' },
  ]);
  const { stdout } = await run(`address ${partner} --chain tron`);
  expect(stdout).toContain(addresses[0].address);
  expect(stdout).not.toContain(addresses[1].address);
});

test('what cannot be shown', async () => {
  const other = await run(`address ${partner} --chain bnb`);
  expect([other.code, other.stderr]).toEqual([1, '"bnb" is not in DEPOSIT_CHAINS: it has tron, ethereum.\n']);
  await expectRefusalWithout(1, /^DEPOSIT_CHAINS is not set/, `deposit address ${partner}`);
  const wrong = await kopeck({ ...env, DEPOSIT_TRON_XPUB: 'xprv9s21' }, 'deposit chains');
  expect([wrong.code, wrong.stdout]).toEqual([1, '']);
  expect(wrong.stderr).toMatch(/^DEPOSIT_TRON_XPUB is a private key[^\n]*\n$/);
});

test('deposits and chains, without the address of a node', async () => {
  expect((await run(`list ${partner}`)).stdout).toBe('(none)\n');
  const { stdout } = await run('chains');
  expect(stdout).toMatch(/tron +1 +1 +1 /);
  expect(stdout).not.toContain('key-of-the-node');
});

test('a sweep has the addresses that hold something', async () => {
  const { address, path } = (await runJson(`address ${partner}`)).addresses[1];
  const { chain, node, ask } = await startChain();
  const sweep = (...args: string[]) => ask('sweep --chain', ...args);
  expect((await sweep('ethereum')).stdout).toBe('chain,address,path,units\n');
  chain.mine([{ to: address.toLowerCase(), units: 7_000_001n }]);
  expect((await sweep('ethereum')).stdout).toBe(
    `chain,address,path,units\nethereum,${address},${path},7000001\n`,
  );
  const addresses = [{ address, path, units: '7000001' }];
  const asJson = JSON.parse((await sweep('ethereum', '--json')).stdout);
  expect(asJson).toEqual({ chain: 'ethereum', decimals: 6, addresses });
  expect((await sweep('bnb')).stderr).toBe('"bnb" is not in DEPOSIT_CHAINS: it has tron, ethereum.\n');
  node.interfere = () => ({ status: 500 });
  expect((await sweep('ethereum')).stderr).toMatch(/^The ethereum node 1 answered with HTTP status 500\.\n$/);
});

test('a held deposit is decided on once', async () => {
  const insert = async (state: string) => {
    const { rows } = await pool.query(
      `INSERT INTO deposits (partner_id, id, chain, transaction, ordinal, log_index, block_number, block_hash, sender, units,
                             rest_units, micro_usdt, state, seen_at, final_at)
       VALUES ($1, gen_random_uuid(), 'tron', gen_random_uuid(), 0, 0, 1, '0x01', 'T', 5000000, 0, 5000000, $2, now(), now())
       RETURNING id`,
      [uuidFromId(parseId('prt', partner)!), state],
    );
    return idFromUuid('dep', rows[0].id);
  };
  const decide = (deposit: string, outcome: string) =>
    run('decide', deposit, '--outcome', outcome, '--reason', 'checked', '--json');
  const released = await insert('held');
  const credited = { deposit_id: released, state: 'credited' };
  expect(JSON.parse((await decide(released, 'credited')).stdout)).toEqual(credited);
  const again = await decide(released, 'credited');
  expect([again.code, again.stdout + again.stderr]).toEqual([1, expect.stringContaining('not_held')]);
  expect(JSON.parse((await decide(await insert('held'), 'rejected')).stdout).state).toBe('rejected');
  expect((await decide(await insert('accumulating'), 'credited')).code).toBe(1);
  await expectRefusal(1, /^There is no deposit dep_1/, 'decide dep_1 --outcome rejected --reason checked');
});

test('a day is compared with the chain', async () => {
  const { address } = (await runJson(`address ${partner}`)).addresses[1];
  const { chain, ask } = await startChain();
  const compare = (...args: string[]) => ask('reconcile --chain ethereum --day 2025-11-16', ...args);
  chain.mineMany(3);
  expect(await compare()).toEqual({
    code: 0,
    stdout: '2025-11-16, blocks 0 to 1: no discrepancies (0 deposits).\n',
    stderr: '',
  });
  const transfers = [{ to: address.toLowerCase(), units: 7_000_000n }];
  chain.blocks[1]!.transactions.push({ hash: `0x${'1'.repeat(64)}`, transfers });
  const { code, stdout } = await compare();
  expect(code).toBe(1);
  expect(stdout).toMatch(/on chain, not on record +0x1{64} +0 +prt_\w+ +7000000 +–/);
  expect(JSON.parse((await compare('--json')).stdout)).toMatchObject({
    ...{ ok: false, on_chain: 1, on_record: 0 },
    differences: [{ kind: 'not_on_record', chain_units: '7000000', recorded_units: null }],
  });
  const { rows } = await pool.query('SELECT kind, subject FROM alarms WHERE cleared_at IS NULL');
  expect(rows).toEqual([{ kind: 'deposit_discrepancy', subject: 'deposits ethereum 2025-11-16' }]);
});

test('a chain is read again from an earlier block on', async () => {
  const { chain, ask } = await startChain();
  chain.mineMany(9);
  await pool.query(
    `UPDATE deposit_chains SET cursor_block = 7, cursor_hash = '0x07', final_block = 7 WHERE chain = 'ethereum'`,
  );
  const rewind = (block: string, ...args: string[]) =>
    ask(`rewind --chain ethereum --block ${block} --reason`, 'another fork', ...args);
  const rewound = { chain: 'ethereum', from_block: '7', to_block: '4', deposits_above: 0 };
  expect(JSON.parse((await rewind('4', '--json')).stdout)).toEqual(rewound);
  const { rows } = await pool.query(
    `SELECT cursor_block, cursor_hash FROM deposit_chains WHERE chain = 'ethereum'`,
  );
  expect(rows).toEqual([{ cursor_block: 4n, cursor_hash: chain.blocks[4]!.hash }]);
  expect((await rewind('3')).stdout).toMatch(/^All blocks of Ethereum after 3 are read again/);
  const refused = await rewind('5', '--json');
  expect([refused.code, refused.stdout + refused.stderr]).toEqual([1, expect.stringContaining('not_below')]);
  expect((await rewind('9')).stderr).toMatch(/^Block 9 is not final on all nodes/);
  expect((await rewind('x')).code).toBe(2);
});
