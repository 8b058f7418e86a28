import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { createPartnerWithKeys, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { kopeck, serviceEnv } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { startLocalServer } from '../helpers/local-server.ts';
import { holdLocks } from '../helpers/locks.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';
import { commandLineOf } from './command-line.ts';

const { pool, url } = await createDatabase();
const simulator = await startSimulator();
const api = await startApi({ pool, gatewayUrl: simulator.address });
await setRate(pool);
const env = { ...serviceEnv(url), GATEWAY_URL: simulator.address };
const since = new Date(Date.now() - 60_000).toISOString();
const { run } = commandLineOf(env);

/** A paid live payment of a new partner, part of which the recipient has returned. */
async function refunded() {
  const { partnerId, liveKey } = await createPartnerWithKeys(pool);
  const qr = await makeQr(simulator);
  const { id } = (await partnerAt(api.address, liveKey).pay({ qr_url: qr.link })).json;
  await simulator.call('POST', `/sim/orders/${id}/refunds`, { amount_kopecks: 250 });
  return { partnerId, id: id as string };
}

test('refund read books what is new, and says what it found', async () => {
  const { id } = await refunded();
  const first = await run('refund read --since', since);
  expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/Booked now: 1\.\n$/) });
  expect(first.stdout).toMatch(new RegExp(`${id} +2\\.50 +.* booked`));
  const again = await run(`refund read --payment ${id} --json`);
  expect(JSON.parse(again.stdout)).toMatchObject({
    booked: 0,
    refunds: [{ payment_id: id, amount_kopecks: 250, outcome: 'known' }],
  });
});

test('refund read exits with 1 if one could not be booked, after it has booked the others', async () => {
  const [locked, other] = [await refunded(), await refunded()];
  const { unlock } = await holdLocks(url, 'SELECT FROM accounts WHERE partner_id = $1 FOR UPDATE', [
    uuidFromId(locked.partnerId),
  ]);
  const { code, stdout } = await run('refund read --since', since);
  await unlock();
  expect(code).toBe(1);
  expect(stdout).toMatch(new RegExp(`${locked.id} .* failed`));
  expect(stdout).toMatch(new RegExp(`${other.id} .* booked`));
  expect(stdout).toMatch(/Booked now: 1\.\nSome could not be booked: .*\. Run the command again later\.\n$/);
  expect((await run('refund read --since', since)).stdout).toContain('Booked now: 1.');
});

test('reconcile shows how orders differ though the list of refunds is broken', async () => {
  const bank = await startLocalServer();
  const order = { order_id: 'ord-1', state: 'succeeded', amount_kopecks: 100 };
  bank.answerWith({
    orders: [{ ...order, payment_id: 'unknown', created_at: '2020-03-01T12:00:00Z' }],
    next_cursor: null,
  });
  const there = { ...env, GATEWAY_URL: bank.url };
  const people = await kopeck(there, 'reconcile --day 2020-03-01');
  expect(people.code).toBe(1);
  expect(people.stdout).toMatch(
    /Paid at the gateway, not here: 1\n.*unknown.*\n\nOrders were compared, refunds were not: .*list of refunds/s,
  );
  const machines = await kopeck(there, 'reconcile --day 2020-03-01 --json');
  expect(JSON.parse(machines.stdout)).toMatchObject({
    ok: false,
    is_complete: false,
    refund_error: expect.stringContaining('list of refunds'),
    paid_there_not_here: [{ order_id: 'ord-1' }],
  });
});
