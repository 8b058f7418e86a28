import { expect, test } from 'vitest';
import { approveLive, signUp } from '../../src/partners/index.ts';
import { startDepositWorld } from '../deposits/world.ts';
import { newPerson, startPortal } from '../helpers/portal.ts';

const deposits = await startDepositWorld();
const { pool, clock, chain, chains, depositChain } = deposits;
const { member, audit } = await startPortal({ pool, clock, chains });

test('deposit addresses are shown once live mode is approved, with their network and explorer', async () => {
  const person = newPerson();
  const signed = await signUp({ ...audit, actor: `telegram:${person.userId}` }, person, 'New shop');
  if (signed.outcome !== 'signed_up') throw new Error(signed.outcome);
  const { partnerId } = signed.partner;
  const viewer = await member(partnerId, 'viewer');
  const { address } = depositChain.deriveAddress(partnerId);
  const before = await viewer.read('/balance');
  expect(before.json.addresses).toBeNull();
  expect(before.text).not.toContain(address);

  await approveLive(audit, partnerId);
  expect((await viewer.read('/balance')).json.addresses).toMatchObject([
    {
      ...{ chain: 'ethereum', network: 'Ethereum (ERC-20)', address },
      address_url: `https://etherscan.io/address/${address}`,
    },
  ]);
});

test('a deposit leads to its transaction in the explorer', async () => {
  const { partnerId, account } = await deposits.newPartner();
  chain.mine([{ to: account, units: 25_000_000n }]);
  await deposits.settle();
  const { data } = (await (await member(partnerId, 'viewer')).read('/deposits')).json;
  expect(data).toMatchObject([
    {
      ...{ network: 'Ethereum (ERC-20)', amount_usdt: '25.000000' },
      transaction_url: `https://etherscan.io/tx/${data[0].transaction_id}`,
    },
  ]);
});
