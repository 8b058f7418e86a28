import type { ServerResponse } from 'node:http';
import { expect, test, vi } from 'vitest';
import type { Id } from '../../src/base/ids.ts';
import { setLimits } from '../../src/partners/index.ts';
import { newLink, setRate, startApi } from '../helpers/api.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { startLocalServer } from '../helpers/local-server.ts';
import { follow } from '../helpers/locks.ts';
import { words } from '../helpers/words.ts';

const { pool, clock, audit } = await createTimedDatabase();
await setRate(pool, clock);
const bank = await startLocalServer();
const { address, deps, newPartner } = await startApi({ pool, clock, gatewayUrl: bank.url });

/** Takes both places of the partner, as two slow reads would. */
async function takePlaces(partnerId: Id<'prt'>) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const takeOne = (begun: () => void) =>
    void deps.reads.run(partnerId, () => {
      begun();
      return released;
    });
  await Promise.all([new Promise<void>(takeOne), new Promise<void>(takeOne)]);
  return release;
}

const today = '/v1/statement?day=2026-11-15';

test('reads beyond the places of a partner get 429; its payments and other partners go on', async () => {
  const [busy, other] = [await newPartner(), await newPartner()];
  const { id } = (await busy.pay({ qr_url: newLink(10_000) })).json;
  const release = await takePlaces(busy.partnerId);

  const paths = [
    ...words('/v1/payments /v1/payments?external_id=a /v1/events /v1/events?after=latest'),
    today,
  ];
  const reads = [...paths, '/v1/test/clock'].map(path => busy.get(path));
  const moves = busy.post('/v1/test/clock', { body: { advance_sec: 1 } });
  for (const path of [...paths, '/v1/test/clock']) expect((await other.get(path)).status, path).toBe(200);
  expect((await busy.pay({ qr_url: newLink(10_000) })).json.status).toBe('succeeded');
  for (const path of [`/v1/payments/${id}`, '/v1/balance', '/v1/rate'])
    expect((await busy.get(path)).status, path).toBe(200);

  for (const { status, headers, json } of await clock.during(Promise.all([...reads, moves])))
    expect([status, headers.get('retry-after'), json.error?.code]).toEqual([429, '1', 'rate_limited']);
  release();
  for (const path of paths) expect((await busy.get(path)).status, path).toBe(200);
});

test('a read that waits for a place gets it', async () => {
  const busy = await newPartner();
  const release = await takePlaces(busy.partnerId);
  const list = follow(busy.get('/v1/payments'));
  await busy.get('/v1/ping');
  expect(list.hasEnded).toBe(false);
  release();
  expect((await list.result).status).toBe(200);
});

/** Holds every statement of reads until the test releases it. */
async function holdStatements() {
  const held: (() => void)[] = [];
  const { reads } = deps;
  const { of } = reads;
  let isHolding = true;
  const spy = vi.spyOn(reads, 'of').mockImplementation((...args) => ({
    query: async statement => {
      if (isHolding) await new Promise<void>(resolve => held.push(resolve));
      return of(...args).query(statement);
    },
  }));
  return {
    held,
    releaseAll: () => {
      isHolding = false;
      for (const release of held) release();
      spy.mockRestore();
    },
  };
}

test('a partner has two statements under way at most, and one whose reader leaves reads no further', async () => {
  const partner = await newPartner();
  const { held, releaseAll } = await holdStatements();
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${partner.testKey}` };
  const leave = () => fetch(`${address}${today}`, { headers, signal: leaving.signal }).catch(() => 'left');
  const left = [leave(), leave()];
  await expect.poll(() => held).toHaveLength(2);
  const refused = await clock.during(partner.get(today));
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(refused.json.error.code).toBe('rate_limited');

  leaving.abort();
  expect(await Promise.all(left)).toEqual(['left', 'left']);
  /** Asks until the server has noticed that a reader left. */
  const askAgain = async (alreadyHeld: number) => {
    for (;;) {
      const asked = follow(partner.get(today));
      await clock.until(() => expect(asked.hasEnded || held.length > alreadyHeld).toBe(true));
      if (held.length > alreadyHeld) return asked;
    }
  };
  const next = [await askAgain(2), await askAgain(3)];
  for (const release of held.slice(0, 2)) release();
  await partner.get('/v1/ping');
  await partner.get('/v1/balance');
  expect(held).toHaveLength(4);
  releaseAll();
  for (const { result } of next) expect((await result).status).toBe(200);
});

test('a partner has at most two seconds of its rate under way', async () => {
  const partner = await newPartner();
  await setLimits(audit, partner.partnerId, { otherRps: 2 });
  // Codes that the bank side does not answer before the end of the test.
  const asked: ServerResponse[] = [];
  bank.answer((_request, response) => void asked.push(response));
  const leaving = new AbortController();
  const resolve = (signal?: AbortSignal) =>
    fetch(`${address}/v1/qr/resolve`, {
      method: 'POST',
      headers: { authorization: `Bearer ${partner.liveKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ qr_url: newLink() }),
      ...(signal ? { signal } : {}),
    }).catch(() => undefined);
  const waiting = [resolve(leaving.signal), resolve()];
  await expect.poll(() => bank.requests).toHaveLength(2);
  clock.advance(1_000);
  waiting.push(resolve(), resolve());
  await expect.poll(() => bank.requests).toHaveLength(4);
  clock.advance(1_000);
  const refused = await partner.get('/v1/ping');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);

  leaving.abort();
  await vi.waitFor(async () => {
    clock.advance(1_000);
    expect((await partner.get('/v1/ping')).status).toBe(200);
  }, 60_000);
  for (const response of asked) response.writeHead(500).end();
  await Promise.all(waiting);
});
