import { HDKey } from '@scure/bip32';
import { describe, expect, test } from 'vitest';
import { decodeBase58Check, encodeBase58Check } from '../../src/base/base58.ts';
import { systemClock } from '../../src/base/clock.ts';
import { idFromUuid } from '../../src/base/ids.ts';
import { readSettings } from '../../src/base/settings.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { accountOfPublicKey, formatAddress, parseAccount } from '../../src/deposits/chain/open-chain.ts';
import { openAddresses, openDepositChains, refuseOtherKeys } from '../../src/deposits/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { auditContextOf } from '../helpers/database.ts';
import { chainSettings, startDepositWorld, startWithDeposits, usdt, xpub } from './world.ts';

const one = 'http://127.0.0.1:1';
/** As in a database that has lost the rows. */
const forgetAddresses = (pool: Pool) =>
  pool.query(`
    ALTER TABLE deposit_addresses DISABLE TRIGGER ALL;
    DELETE FROM deposit_addresses;
    ALTER TABLE deposit_addresses ENABLE ALWAYS TRIGGER deposit_addresses_are_permanent`);

test('known addresses of a known public key', () => {
  // The private key 1: its public key is the generator of the curve.
  const generator = Buffer.from('0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex');
  const account = accountOfPublicKey(generator);
  expect(formatAddress('hex', account)).toBe('0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf');
  expect(formatAddress('base58', account)).toBe('TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC');
  expect(parseAccount('base58', 'TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC')).toBe(account);
});

test('the public key derives what the private one would', async () => {
  // The first test vector of BIP-32, which everybody knows.
  const seed = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');
  const secret = HDKey.fromMasterSeed(seed).derive("m/0'");
  expect(secret.publicExtendedKey).toBe(xpub);
  const chains = await openDepositChains(chainSettings().depositChains, systemClock);
  const partnerId = idFromUuid('prt', '019a7f00-0000-7000-8000-000000000001');
  const { account, path } = chains.get('ethereum')!.deriveAddress(partnerId);
  expect(path).toMatch(/^m\/\d+\/\d+$/);
  expect(accountOfPublicKey(secret.derive(path).publicKey!)).toBe(account);
});

test('an address is permanent: asked for again, by several at once, and after its row was lost', async () => {
  const { pool, clock, chains, newPartner } = await startDepositWorld();
  const { partnerId } = await newPartner();
  const ask = async () => (await openAddresses(pool, clock, chains, partnerId))[0]!.address;
  const all = await Promise.all([ask(), ask(), ask()]);
  expect(new Set(all).size).toBe(1);
  await expect(pool.query('DELETE FROM deposit_addresses')).rejects.toThrow();
  await expect(pool.query(`UPDATE deposit_addresses SET address = 'x'`)).rejects.toThrow();
  await forgetAddresses(pool);
  expect(await ask()).toBe(all[0]);
});

test('no address of a chain is shown before its first round: a transfer to it might never be read', async () => {
  const { pool, clock, chains, newPartner, round } = await startDepositWorld();
  const { partnerId } = await newPartner();
  await pool.query('DELETE FROM deposit_chains');
  expect(await openAddresses(pool, clock, chains, partnerId)).toEqual([]);
  await round();
  expect(await openAddresses(pool, clock, chains, partnerId)).toHaveLength(1);
});

test('a partner whose row was lost is watched again before the next block', async () => {
  const world = await startWithDeposits([3n * usdt]);
  await forgetAddresses(world.pool);
  await world.settle();
  expect(await world.balance()).toBe(3n * usdt);
});

test('another key than that of the addresses on record stops the start, and makes no address', async () => {
  const { pool, clock, chains, newPartner } = await startDepositWorld();
  const { partnerId } = await newPartner();
  const otherKey = HDKey.fromMasterSeed(Buffer.alloc(32, 8)).publicExtendedKey;
  const { depositChains } = chainSettings({ DEPOSIT_ETHEREUM_XPUB: otherKey });
  const refusal = /^DEPOSIT_ETHEREUM_XPUB is another key than that of the addresses on record[^\n]*$/;
  await expect(refuseOtherKeys(pool, depositChains)).rejects.toThrow(refusal);
  const others = await openDepositChains(depositChains, systemClock);
  // Who has one keeps it; nobody gets one of the other key.
  expect(await openAddresses(pool, clock, others, partnerId)).toMatchObject([
    { address: chains.get('ethereum')!.deriveAddress(partnerId).address },
  ]);
  const { partnerId: unknown } = await createPartner(auditContextOf(pool, clock), 'New');
  await expect(openAddresses(pool, clock, others, unknown)).rejects.toThrow(refusal);
  expect(await openAddresses(pool, clock, chains, unknown)).toHaveLength(1);
  await refuseOtherKeys(pool, chainSettings().depositChains);
});

test('base58check', () => {
  const payload = Buffer.from('00ff0102', 'hex');
  expect(decodeBase58Check(encodeBase58Check(payload))).toEqual(payload);
  expect(decodeBase58Check('TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HD')).toBeUndefined();
  expect(decodeBase58Check('0OIl')).toBeUndefined();
  expect(decodeBase58Check('')).toBeUndefined();
});

describe('bad settings', () => {
  const xprv = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).privateExtendedKey;
  const open = async (env: Record<string, string>) =>
    openDepositChains(chainSettings(env).depositChains, systemClock);

  // The setting without its DEPOSIT_ETHEREUM_, the value, and what is said of the setting.
  test.each([
    ['a private key', 'XPUB', xprv, 'is a private key'],
    ['a broken public key', 'XPUB', `${xpub.slice(0, -1)}x`, 'must be'],
    ['no public key', 'XPUB', '', 'must be set'],
    ['no node', 'RPC', '', 'must be set'],
    ['three nodes', 'RPC', `${one},${one}1,${one}2`, 'must have'],
    ['one node twice', 'RPC', `${one},${one}`, 'two different nodes'],
    ['user info', 'RPC', 'https://me:secret@node.example', 'must not have'],
    ['another protocol', 'RPC', 'ws://node.example/secret', 'must be http'],
    ['a wrong checksum', 'CONTRACT', '0xdAC17F958D2ee523a2206206994597C13D831eC7', 'an address of Ethereum'],
    ['no checksum', 'CONTRACT', '0xdac17f958d2ee523a2206206994597c13d831ec7', 'with its checksum'],
    ['five decimals', 'DECIMALS', '5', 'must be'],
    ['a smallest amount of zero', 'MIN_USDT', '0', 'must be'],
    ['endless confirmations', 'CONFIRMATIONS', '-1', 'must be'],
    ['an unknown chain', 'CHAINS', 'ethereum,dogecoin', 'must be some of'],
    ['a chain twice', 'CHAINS', 'ethereum,ethereum', 'has ethereum twice'],
  ])('%s: one line that names the setting and repeats no secret', async (_what, name, value, message) => {
    const setting = name === 'CHAINS' ? 'DEPOSIT_CHAINS' : `DEPOSIT_ETHEREUM_${name}`;
    const error = await open({ [setting]: value }).catch(refused => refused);
    expect(error.message).toContain(setting);
    expect(error.message).toContain(message);
    expect(error.message).not.toMatch(/secret|xprv9/);
    expect(error.message.split('\n')).toHaveLength(1);
  });

  test('nothing configured: nothing is read and nothing is loaded', async () => {
    expect(readSettings({ DEPOSIT_ETHEREUM_XPUB: 'nonsense' }).depositChains).toEqual([]);
    expect((await openDepositChains([], systemClock)).size).toBe(0);
  });
});
