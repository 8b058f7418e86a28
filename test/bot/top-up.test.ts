import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createMutex } from '../../src/base/mutex.ts';
import { createQrReader } from '../../src/bot/images/qr-reader.ts';
import { openDepositChains } from '../../src/deposits/index.ts';
import { approveLive } from '../../src/partners/index.ts';
import { chainSettings, startDepositWorld, xpub } from '../deposits/world.ts';
import { auditContextOf } from '../helpers/database.ts';
import { ownerOf, startTestBot } from './setup.ts';

const deposits = await startDepositWorld();
const { pool, sql, clock, chain, depositChain } = deposits;
const { depositChains } = chainSettings({
  DEPOSIT_CHAINS: 'tron,ethereum',
  DEPOSIT_TRON_RPC: 'http://127.0.0.1:1',
  DEPOSIT_TRON_XPUB: xpub,
  DEPOSIT_ETHEREUM_MIN_USDT: '5',
});
const chains = await openDepositChains(depositChains, systemClock);
const audit = auditContextOf(pool, clock);
const world = await startTestBot({ pool, clock, chains });

const textOf = async (picture: Buffer) => {
  const reading = await createQrReader({ clock: systemClock, acquireImageLock: createMutex() }).read(
    1n,
    async () => picture,
  );
  return reading.outcome === 'read' ? reading.text : reading.outcome;
};

test('one watched chain: its address, with its QR code, smallest amount and time', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'One chain');
  await approveLive(audit, partnerId);
  const { address } = depositChain.deriveAddress(partnerId);
  const { text, message } = await owner.goes(['💰 Balance', /Low-balance alert/], ['➕ Top up', /Ethereum/]);
  expect(text).toContain(address);
  expect(text).toContain('on the Ethereum (ERC-20) network');
  expect(text).toContain('This is real money');
  const url = `https://etherscan.io/address/${address}`;
  expect(message.keyboard[0]).toEqual([{ text: '🔎 Address in the explorer', url }]);
  expect(text).toContain('Minimum deposit: 5.000000 USDT');
  expect(text).toContain('about 16 min');
  expect(await textOf(message.photo!.bytes)).toBe(address);
  await owner.goes(['⬅️ Back', /Low-balance alert/]);
});

test('before live mode is approved no address is shown', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Not approved');
  const { text, buttons } = await owner.goes(
    ['💰 Balance', /Low-balance alert/],
    ['➕ Top up', /after live mode is approved/],
  );
  expect(text).not.toContain(depositChain.deriveAddress(partnerId).address);
  expect(buttons).toEqual([['⬅️ Back']]);
});

test('several chains: the network is chosen first, also in Russian', async () => {
  await sql`INSERT INTO deposit_chains SELECT 'tron', cursor_block, cursor_hash, cursor_time, final_block, checked_at, NULL, lease_until
       FROM deposit_chains WHERE chain = 'ethereum'`;
  const { owner, partnerId } = await ownerOf(world, pool, 'Две сети', 'ru');
  await approveLive(audit, partnerId);
  const { text, message } = await owner.goes(
    ['💰 Баланс', /Уведомление о низком балансе/],
    ['➕ Пополнить', /В какой сети/],
    ['TRON (TRC-20)', /Минимальная сумма/],
  );
  const { address } = chains.get('tron')!.deriveAddress(partnerId);
  expect(text).toContain(address);
  expect(await textOf(message.photo!.bytes)).toBe(address);
});

test('the partner is notified when a deposit is seen, and when it is credited', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Notified');
  chain.mine([{ to: depositChain.deriveAddress(partnerId).account, units: 25_000_000n }]);
  await deposits.round();
  await owner.reads(/Deposit on its way: 25\.000000 USDT on Ethereum \(ERC-20\)/);
  await deposits.settle();
  await owner.reads(/Top-up received: 25\.000000 USDT\. Balance \(live\): 25\.000000 USDT/);
});
