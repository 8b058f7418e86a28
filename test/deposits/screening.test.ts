import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { readSettings } from '../../src/base/settings.ts';
import { creditPartner } from '../../src/deposits/credit.ts';
import { createScreen, type Screen } from '../../src/deposits/screening/ask.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { sender } from '../helpers/chain.ts';
import { endOfTime } from '../helpers/clock.ts';
import { startDepositWorld } from './world.ts';

const usdt = 1_000_000n;
const allow: Screen = async () => 'allow';

/** A world in which deposits of these amounts are final and wait for screening. */
async function waitingFor(amounts: bigint[], env = {}) {
  const world = await startDepositWorld({ isScreened: true, env });
  const partner = await world.newPartner();
  for (const units of amounts) world.chain.mine([{ to: partner.account, units }]);
  await world.settle();
  return { ...world, ...partner, balance: () => world.balanceOf(partner.partnerId) };
}

test('a final deposit waits for the answer, and the cursor does not wait', async () => {
  const world = await waitingFor([25n * usdt]);
  expect(await world.states()).toEqual(['screening 25000000']);
  expect(await world.balance()).toBe(0n);
  const { rows } = await world.pool.query('SELECT final_block - cursor_block AS behind FROM deposit_chains');
  expect(rows).toEqual([{ behind: 0n }]);
  expect(await world.screen(allow)).toBe('done');
  expect(await world.states()).toEqual(['credited 25000000']);
  expect(await world.balance()).toBe(25n * usdt);
  await world.screen(allow);
  await world.settle();
  expect(await world.balance()).toBe(25n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
  expect(await verifyLedger(world.pool, { now: endOfTime })).toMatchObject({ findings: [] });
});

test.each(['hold', 'no_answer'] as const)('%s holds the deposit with an alarm', async answer => {
  const world = await waitingFor([25n * usdt]);
  await world.screen(async () => answer);
  await world.screen(allow);
  await world.settle();
  expect(await world.states()).toEqual(['held 25000000']);
  expect(await world.balance()).toBe(0n);
  expect(await world.alarmKinds()).toEqual(['deposit_held']);
  const { rows } = await world.pool.query('SELECT held_for FROM deposits');
  expect(rows).toEqual([{ held_for: answer === 'hold' ? 'screening' : 'no_answer' }]);
});

test('a process that dies after asking asks again', async () => {
  const world = await waitingFor([25n * usdt]);
  let asked = 0;
  const counting: Screen = async () => {
    asked += 1;
    return 'allow';
  };
  await world.pool.query(
    `ALTER TABLE deposits ADD CONSTRAINT no_answers CHECK (screened_at IS NULL) NOT VALID`,
  );
  await expect(world.screen(counting)).rejects.toThrow('no_answers');
  expect(await world.states()).toEqual(['screening 25000000']);
  expect(await world.balance()).toBe(0n);
  await world.pool.query('ALTER TABLE deposits DROP CONSTRAINT no_answers');
  await world.screen(counting);
  expect(asked).toBe(2);
  expect(await world.balance()).toBe(25n * usdt);
});

test('a process that dies with the answer on record leaves the credit to the next round', async () => {
  const world = await waitingFor([25n * usdt]);
  await world.pool.query(
    `ALTER TABLE partner_notices ADD CONSTRAINT no_notices CHECK (kind <> 'balance_credited') NOT VALID`,
  );
  await expect(world.screen(allow)).rejects.toThrow('no_notices');
  expect(await world.states()).toEqual(['accumulating 25000000']);
  expect(await world.balance()).toBe(0n);
  await world.pool.query('ALTER TABLE partner_notices DROP CONSTRAINT no_notices');
  await world.round();
  expect(await world.states()).toEqual(['credited 25000000']);
  expect(await world.balance()).toBe(25n * usdt);
});

test('of two processes that ask at once the second answer changes nothing', async () => {
  const world = await waitingFor([25n * usdt]);
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const late = world.screen(async () => {
    asked.resolve();
    await answered.promise;
    return 'hold';
  });
  await asked.promise;
  await world.screen(allow);
  expect(await world.states()).toEqual(['credited 25000000']);
  answered.resolve();
  await late;
  expect(await world.balance()).toBe(25n * usdt);
  expect(await world.states()).toEqual(['credited 25000000']);
  expect(await world.alarmKinds()).toEqual([]);
});

test('an answer that is slow or cannot be booked delays no other', async () => {
  const world = await waitingFor([3n * usdt, 4n * usdt, 5n * usdt]);
  const slow = Promise.withResolvers<'allow'>();
  await world.pool.query(
    `ALTER TABLE deposits ADD CONSTRAINT not_four CHECK (screened_at IS NULL OR micro_usdt <> 4000000) NOT VALID`,
  );
  const round = world.screen(async ({ microUsdt }) => (microUsdt === 3n * usdt ? slow.promise : 'allow'));
  await expect.poll(world.balance).toBe(5n * usdt);
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
  expect(await world.states()).toEqual(['credited 6000000', 'credited 7000000']);
  expect(await world.balance()).toBe(13n * usdt);
});

test('no connection of the database is in use while the service is asked', async () => {
  const world = await waitingFor([25n * usdt]);
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
  expect(await world.states()).toEqual(['credited 4000000', 'held 5000000', 'credited 6000000']);
  expect(await world.balance()).toBe(10n * usdt);
  // One entry: neither is enough alone.
  const { rows } = await world.pool.query(
    `SELECT DISTINCT credit_reference FROM deposits WHERE state = 'credited'`,
  );
  expect(rows).toHaveLength(1);
});

test('deposits that waited when screening was turned off are held', async () => {
  const world = await waitingFor([25n * usdt]);
  await world.screen(undefined);
  expect(await world.states()).toEqual(['held 25000000']);
  expect(await world.balance()).toBe(0n);
});

test('many deposits are asked about in several rounds', async () => {
  const world = await waitingFor(Array.from({ length: 13 }, () => 2n * usdt));
  expect(await world.screen(allow)).toBe('more');
  expect(await world.screen(allow)).toBe('done');
  expect(await world.balance()).toBe(26n * usdt);
});

async function startService(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/key-of-the-service`;
}

const asked = {
  chain: 'ethereum',
  transaction: `0x${'5c'.repeat(32)}`,
  logIndex: 4,
  sender,
  microUsdt: 2_500_000n,
} as const;

test('the service gets chain, transaction, log, sender and amount', async () => {
  const requests: unknown[] = [];
  const url = await startService((request, response) => {
    let body = '';
    request.on('data', chunk => {
      body += chunk;
    });
    request.on('end', () => {
      requests.push([request.method, request.url, JSON.parse(body)]);
      response.end('{"decision":"allow"}');
    });
  });
  expect(await createScreen(systemClock, url)(asked)).toBe('allow');
  expect(requests).toEqual([
    [
      'POST',
      '/key-of-the-service',
      {
        chain: 'ethereum',
        transaction_id: asked.transaction,
        log_index: 4,
        sender,
        amount_usdt: '2.500000',
      },
    ],
  ]);
});

test.each<[string, string, RequestListener]>([
  ['hold', 'hold', (_request, response) => response.end('{"decision":"hold"}')],
  ['another word', 'no_answer', (_request, response) => response.end('{"decision":"Allow"}')],
  ['a bare word', 'no_answer', (_request, response) => response.end('allow')],
  ['null', 'no_answer', (_request, response) => response.end('null')],
  ['nothing', 'no_answer', (_request, response) => response.end()],
  ['an error', 'no_answer', (_request, response) => response.writeHead(500).end('{"decision":"allow"}')],
  [
    'a redirect',
    'no_answer',
    (_request, response) => response.writeHead(302, { location: '/allow' }).end('{"decision":"allow"}'),
  ],
  [
    'far too much',
    'no_answer',
    (_request, response) => response.end(`{"decision":"allow","why":"${'x'.repeat(20_000)}"}`),
  ],
  ['a closed connection', 'no_answer', request => request.socket.destroy()],
  ['silence', 'no_answer', () => {}],
  [
    'a letter at a time',
    'no_answer',
    (request, response) => {
      const letters = [...'{"decision":"allow"}'];
      const timer = setInterval(() => response.write(letters.shift() ?? ' '), 30);
      request.socket.on('close', () => clearInterval(timer));
    },
  ],
  ['more than JSON', 'no_answer', (_request, response) => response.end('{"decision":"allow"} {}')],
  ['a list', 'no_answer', (_request, response) => response.end('[{"decision":"allow"}]')],
  ['a list of words', 'no_answer', (_request, response) => response.end('{"decision":["allow"]}')],
  ['half an answer', 'no_answer', (_request, response) => response.write('{"decision":')],
])('the service answers with %s: %s', async (_what, expected, answer) => {
  const url = await startService(answer);
  expect(await createScreen(systemClock, url, { timeoutMs: 300 })(asked)).toBe(expected);
});

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
