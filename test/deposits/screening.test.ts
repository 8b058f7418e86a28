import type { RequestListener } from 'node:http';
import { test as base, expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { readSettings } from '../../src/base/settings.ts';
import { creditPartner } from '../../src/deposits/credit.ts';
import { createScreen, type Screen } from '../../src/deposits/screening/screen-deposits.ts';
import { sender } from '../helpers/chain.ts';
import { startLocalServer } from '../helpers/local-server.ts';
import { credited as creditedOf, startWithDeposits, usdt } from './world.ts';

const allow: Screen = async () => 'allow';
const waiting = { balances: [0n], states: ['screening 25000000'] };
const credited = creditedOf(25n);

/** A world in which deposits of these amounts are final and wait for screening. */
async function waitingFor(amounts: bigint[], env = {}) {
  const world = await startWithDeposits(amounts, { isScreened: true, env });
  await world.settle();
  return world;
}
const test = base.extend('world', () => waitingFor([25n * usdt]));

test('a final deposit waits for the answer, and the cursor does not wait', async ({ world }) => {
  expect(await world.record()).toMatchObject(waiting);
  const { rows } = await world.pool.query('SELECT final_block - cursor_block AS behind FROM deposit_chains');
  expect(rows).toEqual([{ behind: 0n }]);
  expect(await world.screen(allow)).toBe('done');
  expect(await world.record()).toEqual(credited);
  await world.screen(allow);
  await world.settle();
  expect(await world.record()).toEqual(credited);
  expect(await world.findings()).toEqual([]);
});

test.for(['hold', 'no_answer'] as const)('%s holds the deposit with an alarm', async (answer, { world }) => {
  await world.screen(async () => answer);
  await world.screen(allow);
  await world.settle();
  expect(await world.record()).toEqual({
    balances: [0n],
    states: ['held 25000000'],
    alarms: ['deposit_held'],
  });
  const { rows } = await world.pool.query('SELECT held_for FROM deposits');
  expect(rows).toEqual([{ held_for: answer === 'hold' ? 'screening' : 'no_answer' }]);
});

test.for([
  ['after asking asks again', 'deposits', 'screened_at IS NULL', 'screening', 2],
  [
    'with the answer on record leaves the credit to the next round',
    'partner_notices',
    "kind <> 'balance_credited'",
    'accumulating',
    1,
  ],
])('a process that dies %s', async ([_what, table, constraint, state, times], { world }) => {
  let asked = 0;
  const counting: Screen = async () => {
    asked += 1;
    return 'allow';
  };
  await world.pool.query(`ALTER TABLE ${table} ADD CONSTRAINT fault CHECK (${constraint}) NOT VALID`);
  await expect(world.screen(counting)).rejects.toThrow('fault');
  expect(await world.record()).toMatchObject({ balances: [0n], states: [`${state} 25000000`] });
  await world.pool.query(`ALTER TABLE ${table} DROP CONSTRAINT fault`);
  await world.screen(counting);
  await world.round();
  expect(asked).toBe(times);
  expect(await world.record()).toEqual(credited);
});

test('of two processes that ask at once the second answer changes nothing', async ({ world }) => {
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const late = world.screen(async () => {
    asked.resolve();
    await answered.promise;
    return 'hold';
  });
  await asked.promise;
  await world.screen(allow);
  expect(await world.record()).toEqual(credited);
  answered.resolve();
  await late;
  expect(await world.record()).toEqual(credited);
});

test('an answer that is slow or cannot be booked delays no other', async () => {
  const world = await waitingFor([3n * usdt, 4n * usdt, 5n * usdt]);
  const slow = Promise.withResolvers<'allow'>();
  await world.pool.query(
    `ALTER TABLE deposits ADD CONSTRAINT not_four CHECK (screened_at IS NULL OR micro_usdt <> 4000000) NOT VALID`,
  );
  const round = world.screen(async ({ microUsdt }) => (microUsdt === 3n * usdt ? slow.promise : 'allow'));
  await world.clock.until(async () => expect(await world.balance()).toBe(5n * usdt));
  slow.resolve('allow');
  await expect(round).rejects.toThrow('not_four');
  expect(await world.balance()).toBe(8n * usdt);
});

test('two processes that credit deposits of one partner at once credit each once', async () => {
  const world = await waitingFor([6n * usdt, 7n * usdt], { DEPOSIT_ETHEREUM_MIN_USDT: '10' });
  const { pool, clock, depositChain: chain, partnerId } = world;
  await pool.query(`UPDATE deposits SET state = 'accumulating'`);
  const credits = Array.from({ length: 5 }, () => creditPartner({ pool, clock, chain }, partnerId));
  await Promise.allSettled(credits);
  await world.round();
  expect(await world.record()).toMatchObject({
    balances: [13n * usdt],
    states: ['credited 6000000', 'credited 7000000'],
  });
});

test('no connection of the database is in use while the service is asked', async ({ world }) => {
  let inUse: number | undefined;
  await world.screen(async () => {
    inUse = world.pool.totalCount - world.pool.idleCount;
    return 'allow';
  });
  expect(inUse).toBe(0);
});

test('only deposits that were allowed are summed', async () => {
  const world = await waitingFor([4n * usdt, 5n * usdt, 6n * usdt], { DEPOSIT_ETHEREUM_MIN_USDT: '10' });
  await world.screen(async ({ microUsdt }) => (microUsdt === 5n * usdt ? 'hold' : 'allow'));
  expect(await world.record()).toMatchObject({
    balances: [10n * usdt],
    states: ['credited 4000000', 'held 5000000', 'credited 6000000'],
  });
  // One entry: neither is enough alone.
  const { rows } = await world.pool.query(
    `SELECT DISTINCT credit_reference FROM deposits WHERE state = 'credited'`,
  );
  expect(rows).toHaveLength(1);
});

test('deposits that waited when screening was turned off are held', async ({ world }) => {
  await world.screen(undefined);
  expect(await world.record()).toMatchObject({ balances: [0n], states: ['held 25000000'] });
});

test('many deposits are asked about in several rounds', async () => {
  const world = await waitingFor(Array.from({ length: 13 }, () => 2n * usdt));
  expect(await world.screen(allow)).toBe('more');
  expect(await world.screen(allow)).toBe('done');
  expect(await world.balance()).toBe(26n * usdt);
});

const service = await startLocalServer();
const url = `${service.url}/key-of-the-service`;

const asked = {
  chain: 'ethereum',
  transaction: `0x${'5c'.repeat(32)}`,
  logIndex: 4,
  sender,
  microUsdt: 2_500_000n,
} as const;

test('the service gets chain, transaction, log, sender and amount', async () => {
  const requests: unknown[] = [];
  service.answer(async (request, response) => {
    const body = (await request.toArray()).join('');
    requests.push([request.method, request.url, JSON.parse(body)]);
    response.end('{"decision":"allow"}');
  });
  expect(await createScreen(systemClock, url)(asked)).toBe('allow');
  const { chain, transaction: transaction_id } = asked;
  const body = { chain, transaction_id, log_index: 4, sender, amount_usdt: '2.500000' };
  expect(requests).toEqual([['POST', '/key-of-the-service', body]]);
});

const answering =
  (text: string): RequestListener =>
  (_request, response) =>
    response.end(text);

test.each<[string, RequestListener, expected?: string]>([
  ['hold', answering('{"decision":"hold"}'), 'hold'],
  ['another word', answering('{"decision":"Allow"}')],
  ['a bare word', answering('allow')],
  ['null', answering('null')],
  ['nothing', answering('')],
  ['an error', (_request, response) => response.writeHead(500).end('{"decision":"allow"}')],
  [
    'a redirect',
    (_request, response) => response.writeHead(302, { location: '/allow' }).end('{"decision":"allow"}'),
  ],
  ['far too much', answering(`{"decision":"allow","why":"${'x'.repeat(20_000)}"}`)],
  ['a closed connection', request => request.socket.destroy()],
  ['more than JSON', answering('{"decision":"allow"} {}')],
  ['a list', answering('[{"decision":"allow"}]')],
  ['a list of words', answering('{"decision":["allow"]}')],
])(
  'the service answers with %s: nothing but a clear answer counts',
  async (_what, answer, expected = 'no_answer') => {
    service.answer(answer);
    expect(await createScreen(systemClock, url)(asked)).toBe(expected);
  },
);

test('a service that cannot be reached holds', async () => {
  expect(await createScreen(systemClock, 'http://127.0.0.1:1/key-of-the-service')(asked)).toBe('no_answer');
});

test.each([
  ['ftp://screen.example/secret', 'DEPOSIT_SCREEN_URL must be an http'],
  ['nonsense secret', 'DEPOSIT_SCREEN_URL must be an http'],
  ['https://me:secret@screen.example', 'DEPOSIT_SCREEN_URL must not have a user name'],
])('a bad address stops the start and is not repeated: %s', (url, message) => {
  const read = () => readSettings({ DEPOSIT_SCREEN_URL: url });
  expect(read).toThrow(message);
  expect(read).not.toThrow('secret');
});
