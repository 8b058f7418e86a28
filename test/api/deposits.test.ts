import { expect, test } from 'vitest';
import { startDepositWorld } from '../deposits/world.ts';
import { codeOf, createPartnerWithKeys, partnerAt, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';

const world = await startDepositWorld({ env: { DEPOSIT_ETHEREUM_MIN_USDT: '5' } });
const { pool, clock, chains, chain, depositChain } = world;
const { address } = await startApi({ pool, clock, chains });

async function newPartner() {
  const { partnerId, liveKey, testKey } = await createPartnerWithKeys(pool, 0n);
  const { account, address: own } = depositChain.deriveAddress(partnerId);
  return { liveKey, live: partnerAt(address, liveKey), test: partnerAt(address, testKey), account, own };
}

test('one permanent address per chain, and none in test mode', async () => {
  const partner = await newPartner();
  const { json } = await partner.live.get('/v1/deposit_addresses');
  const terms = { object: 'deposit_address', chain: 'ethereum', min_usdt: '5.000000', usual_minutes: 16 };
  expect(json).toEqual({
    data: [{ ...terms, address: partner.own }],
    request_id: expect.stringMatching(/^req_/),
  });
  expect((await partner.live.get('/v1/deposit_addresses')).json.data).toEqual(json.data);
  expect((await partner.test.get('/v1/deposit_addresses')).json.data).toEqual([]);
});

test('the statement has each credit with the reference of its deposits', async () => {
  const { live, liveKey, account } = await newPartner();
  for (const units of [7_000_000n, 2_000_000n, 3_500_000n]) chain.mine([{ to: account, units }]);
  await world.settle();
  const { data } = (await live.get('/v1/deposits')).json;
  const day = data[0].credited_at.slice(0, 10);
  const { json } = await live.get(`/v1/statement?day=${day}`);
  const credit = { kind: 'credit', from: 'topup', to: 'available', payment_id: null };
  expect(json.entries).toMatchObject([
    { ...credit, amount_usdt: '7.000000', reference: data[2].reference },
    { ...credit, amount_usdt: '5.500000', reference: data[0].reference },
  ]);
  expect(data[2].reference).toBe(`deposit:ethereum:${data[2].transaction_id}:0`);
  expect(data[1].reference).toBe(data[0].reference);
  expect(json.closing.available_usdt).toBe('12.500000');
  const headers = { authorization: `Bearer ${liveKey}` };
  const csv = await (await fetch(`${address}/v1/statement?day=${day}&format=csv`, { headers })).text();
  for (const { reference } of json.entries) expect(csv).toContain(`,,${reference}\n`);
});

test('deposits in pages, newest first, of one partner and of live mode only', async () => {
  const [one, other] = [await newPartner(), await newPartner()];
  for (const units of [7_000_000n, 2_000_000n, 9_000_000n]) chain.mine([{ to: one.account, units }]);
  await world.settle();
  chain.mine([{ to: one.account, units: 6_000_000n }]);
  await world.round();
  const first = (await one.live.get('/v1/deposits?limit=3')).json;
  expect(first.data.map(({ status, amount_usdt }: Record<string, string>) => [status, amount_usdt])).toEqual([
    ['pending', '6.000000'],
    ['credited', '9.000000'],
    ['credited', '2.000000'],
  ]);
  const credited = { object: 'deposit', chain: 'ethereum', credited_at: expect.any(String) };
  expect(first.data[1]).toMatchObject(credited);
  expect(first.data[2].reference).toBe(first.data[1].reference);
  expect(first.has_more).toBe(true);
  const rest = (await one.live.get(`/v1/deposits?limit=3&starting_after=${first.next_cursor}`)).json;
  expect(rest).toMatchObject({ data: [{ amount_usdt: '7.000000' }], has_more: false, next_cursor: null });
  expect((await one.live.get('/v1/balance')).json.balance_usdt).toBe('18.000000');

  expect((await other.live.get('/v1/deposits')).json.data).toEqual([]);
  expect((await one.test.get('/v1/deposits')).json.data).toEqual([]);
  const foreign = await other.live.get(`/v1/deposits?starting_after=${first.next_cursor}`);
  expect(codeOf(foreign)).toBe('404 not_found');
  for (const after of ['nonsense', 'pay_01h00000000000000000000000', 'dep_01h00000000000000000000000'])
    expect((await one.live.get(`/v1/deposits?starting_after=${after}`)).status).toBe(404);
  expect((await one.test.get(`/v1/deposits?starting_after=${first.next_cursor}`)).status).toBe(404);
  expect((await one.live.get('/v1/deposits?limit=101')).status).toBe(422);
});

test('without chains the lists are empty', async () => {
  const { pool: plain } = await createDatabase();
  const { address: without } = await startApi({ pool: plain });
  const { liveKey } = await createPartnerWithKeys(plain);
  expect((await partnerAt(without, liveKey).get('/v1/deposit_addresses')).json.data).toEqual([]);
  expect((await partnerAt(without, liveKey).get('/v1/deposits')).json.data).toEqual([]);
});
