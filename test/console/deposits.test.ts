import { expect, test } from 'vitest';
import { chainSettings, startDepositWorld, usdt, xpub } from '../deposits/world.ts';
import { answers, startConsole } from '../helpers/console.ts';

const world = await startDepositWorld({ isScreened: true });
const { pool, clock, chain } = world;
const { depositChains, depositScreenUrl } = chainSettings({
  DEPOSIT_CHAINS: 'ethereum,tron',
  DEPOSIT_ETHEREUM_RPC: 'https://node.example/key-of-the-node',
  DEPOSIT_TRON_RPC: 'https://a.example,https://b.example',
  DEPOSIT_TRON_XPUB: xpub,
  DEPOSIT_SCREEN_URL: 'https://screen.example/key-of-the-service',
});
const { signIn } = await startConsole({ pool, clock, depositChains, depositScreenUrl });
const finance = await signIn('finance');
const partner = await world.newPartner();
for (const units of [5n, 6n, 7n]) chain.mine([{ to: partner.account, units: units * usdt }]);
await world.settle();
await world.screen(async ({ microUsdt }) => (microUsdt === 6n * usdt ? 'hold' : 'allow'));

const list = async (query = '') => (await finance.get(`/deposits${query}`)).json;

test('deposits of all partners, newest first, in pages and by state', async () => {
  const first = await list('?limit=2');
  expect(first.data.map(({ state, amount_usdt }: Record<string, string>) => [state, amount_usdt])).toEqual([
    ['credited', '7.000000'],
    ['held', '6.000000'],
  ]);
  const rest = await list(`?limit=2&after=${first.next_cursor}`);
  expect(rest).toMatchObject({ data: [{ amount_usdt: '5.000000' }], next_cursor: null });
  const { data } = await list('?state=held');
  expect(data).toEqual([
    {
      deposit_id: expect.stringMatching(/^dep_/),
      partner_id: partner.partnerId,
      partner: 'Shop',
      chain: 'ethereum',
      network: 'Ethereum (ERC-20)',
      state: 'held',
      held_for: 'screening',
      amount_usdt: '6.000000',
      transaction_id: expect.stringMatching(/^0x\w{64}$/),
      log_index: 0,
      sender: expect.stringMatching(/^0x/),
      transaction_url: `https://etherscan.io/tx/${data[0].transaction_id}`,
      sender_url: `https://etherscan.io/address/${data[0].sender}`,
      seen_at: expect.any(String),
      credited_at: null,
      decision_reason: null,
      request: null,
    },
  ]);
  expect((await list(`?partner_id=${partner.partnerId}`)).data).toHaveLength(3);
  expect((await list('?partner_id=prt_01h00000000000000000000000')).data).toEqual([]);
  const { deposit_id, transaction_id } = data[0];
  for (const q of [deposit_id, transaction_id, transaction_id.slice(2).toUpperCase()])
    expect((await list(`?q=${q}`)).data).toEqual(data);
  for (const q of ['dep_01h00000000000000000000000', transaction_id.slice(0, -1), `${transaction_id}%25`])
    expect((await list(`?q=${q}`)).data).toEqual([]);
  expect((await list(`?q=${deposit_id}&state=credited`)).data).toEqual([]);
});

test('the lag of each chain, and nothing of its nodes', async () => {
  const { json } = await finance.get('/deposits/chains');
  expect(json).toEqual({
    data: [
      {
        chain: 'ethereum',
        network: 'Ethereum (ERC-20)',
        nodes: 1,
        lag_sec: expect.any(Number),
        blocks_behind: 0,
        checked_at: new Date(clock.nowMs()).toISOString(),
      },
      {
        ...{ chain: 'tron', network: 'TRON (TRC-20)', nodes: 2 },
        ...{ lag_sec: null, blocks_behind: null, checked_at: null },
      },
    ],
    is_screened: true,
  });
});

test('a held deposit is released or rejected, above the threshold with approval', async () => {
  expect((await finance.get('/overview')).json.deposits_held).toBe(1);
  const [held] = (await list('?state=held')).data;
  const path = `/deposits/${held.deposit_id}`;
  await answers(422, finance.post(`${path}/release`, {}));
  await answers(400, finance.post(`${path}/release`, { reason: 'a\nb' }));
  expect((await finance.post(`${path}/release`, { reason: 'checked' })).json).toEqual({ outcome: 'done' });
  await answers('409 not_held', finance.post(`${path}/reject`, { reason: 'checked' }));
  await answers('404 not_found', finance.post('/deposits/dep_1/reject', { reason: 'checked' }));
  expect(await world.balanceOf(partner.partnerId)).toBe(18n * usdt);

  chain.mine([{ to: partner.account, units: 5_000n * usdt }]);
  await world.settle();
  await world.screen(async () => 'no_answer');
  const [large] = (await list('?state=held')).data;
  expect(large.held_for).toBe('no_answer');
  const { json } = await finance.post(`/deposits/${large.deposit_id}/release`, { reason: 'checked' });
  expect(json).toMatchObject({ outcome: 'waiting', request: { kind: 'deposit', is_own: true } });
  expect((await list('?state=held')).data[0].request).toMatchObject({
    change: {
      outcome: 'credited',
      sender: large.sender,
      reference: `deposit:ethereum:${large.transaction_id}:0`,
    },
  });
  const second = await signIn('finance');
  const opposite = await second.post(`/deposits/${large.deposit_id}/reject`, { reason: 'checked' });
  expect(opposite.json.error).toMatchObject({
    code: 'already_waiting',
    message: expect.stringMatching(`Request ${json.request.request_id} by .* New status: credited`),
  });
  const { data } = (await second.get('/requests?state=waiting')).json;
  expect(data).toMatchObject([
    { kind: 'deposit', amount_usdt: '5000.000000', balance: { available_usdt: '18.000000', mode: 'live' } },
  ]);
  expect((await second.post(`/requests/${data[0].request_id}/approve`)).json).toEqual({ outcome: 'done' });
  expect(await world.balanceOf(partner.partnerId)).toBe(5_018n * usdt);
});
