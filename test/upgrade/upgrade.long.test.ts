import { readdirSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readPreviousRelease } from '../../src/db/schema/migrations.ts';
import { afterFile } from '../helpers/after-file.ts';
import { kopeckProcess, startService } from '../helpers/cli.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';
import { call, startLoad } from './load.ts';
import { hasCommit, migrationsOf, previousRelease, startVersion } from './previous-release.ts';

const checkEveryMs = 200;

/** A load balancer that sends requests in turn to the nodes whose /readyz says 200, and repeats none. */
async function startBalancer() {
  const agent = new Agent({ keepAlive: true });
  const nodes = new Map<string, boolean>();
  const counts = new Map<string, number>();
  let turn = 0;
  let isStopped = false;

  async function check(address: string): Promise<void> {
    while (!isStopped) {
      const status = await fetch(`${address}/readyz`).then(
        async response => {
          await response.arrayBuffer();
          return response.status;
        },
        () => 0,
      );
      nodes.set(address, status === 200);
      await sleep(checkEveryMs);
    }
  }

  const server = createServer((incoming, outgoing) => {
    const ready = [...nodes].filter(([, isReady]) => isReady).map(([address]) => address);
    const address = ready[turn++ % Math.max(1, ready.length)];
    if (!address) return void outgoing.writeHead(502).end('no node is ready');
    counts.set(address, (counts.get(address) ?? 0) + 1);
    const { method, url, headers } = incoming;
    const passed = request(`${address}${url}`, { method, headers, agent }, response => {
      const { connection: _ofThisHop, ...rest } = response.headers;
      outgoing.writeHead(response.statusCode!, rest);
      response.on('error', () => outgoing.destroy()).pipe(outgoing);
    });
    passed.on('error', error => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end(`${address}: ${error.message}`);
    });
    incoming.pipe(passed);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  afterFile(async () => {
    isStopped = true;
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (address: string) => {
      nodes.set(address, false);
      void check(address);
    },
    /** How many requests each node got. */
    counts,
  };
}

/** In each phase: with the old version, with both, with the new one. */
const paymentsPerPhase = 100;
const clients = 3;
const database = new URL('../../database/', import.meta.url);
const migrations = readdirSync(new URL('migrations/', database)).length;

test.skipIf(!hasCommit(previousRelease))(
  'a new version replaces the previous one under load, and no payment is refused, lost or made twice',
  async () => {
    // As the release notes ask for it until the old version is gone, which would ignore a locked quote.
    const settings = { DRAIN_SEC: '2', QUOTE_LOCK_PARTNER_USDT: '0' };
    const world = await startVersion(previousRelease, settings);
    const { pool, simulator, receiver, env, run, old, partnerId, keys } = world;
    const countMigrations = async () =>
      (await pool.query<{ count: number }>('SELECT count(*)::int AS count FROM schema_migrations')).rows[0]!
        .count;

    expect(await countMigrations()).toBe(migrationsOf(previousRelease).length);
    if (previousRelease !== 'HEAD')
      expect(readPreviousRelease(database)).toBe(migrationsOf(previousRelease).length);
    const balancer = await startBalancer();
    balancer.add(old.address);
    await expect.poll(async () => (await fetch(`${balancer.url}/healthz`)).status).toBe(200);

    const agent = new Agent({ keepAlive: true });
    const startedAt = new Date().toISOString();
    const load = startLoad(balancer.url, keys, clients);
    await load.more(paymentsPerPhase);
    const new_ = await startService(env);
    expect(await countMigrations()).toBe(migrations);
    const ofOldAlone = balancer.counts.get(old.address)!;
    balancer.add(new_.address);
    await expect.poll(() => balancer.counts.get(new_.address)).toBeGreaterThan(0);
    const further = await startReceiver();
    const kinds = 'payment.succeeded,payment.failed,payment.refunded';
    const toFurther = ['--mode', 'live', '--url', further.url, '--events', kinds];
    await run('webhook', 'add', partnerId, ...toFurther);
    // What is under way now may end before or after it.
    const paidBefore = load.paid.length + clients;
    const refunded = load.paid.find(({ mode }) => mode === 'live')!.paymentId;
    await simulator.call('POST', `/sim/orders/${refunded}/refunds`, { amount_kopecks: 250 }, 'token');
    await load.more(paymentsPerPhase);
    await run('refund', 'read', '--since', startedAt);
    const ofQuotes = { method: 'POST', body: { amount_rub: '100.00', lock: true } };
    for (let count = 0; count < 4; count++)
      expect((await call(agent, `${balancer.url}/v1/quote`, keys.live, ofQuotes)).body).not.toContain(
        'quote_id',
      );
    // The old one went on with the new schema.
    expect(balancer.counts.get(old.address)).toBeGreaterThan(ofOldAlone + paymentsPerPhase / 4);
    expect(await old.stop(), old.output()).toBe(0);
    await load.more(paymentsPerPhase);
    await load.stop();

    expect(load.refused).toEqual([]);
    for (const mode of ['live', 'test']) expect(load.paid.some(one => one.mode === mode)).toBe(true);

    const read = async (paymentId: string, key: string) =>
      JSON.parse((await call(agent, `${new_.address}/v1/payments/${paymentId}`, key)).body);
    // So many reads may be limited to the rate of a partner.
    for (const { mode, paymentId } of load.paid) {
      await expect
        .poll(() => read(paymentId, keys[mode]), { interval: 500 })
        .toMatchObject({ status: 'succeeded', ...(paymentId === refunded && { refunded_rub: '2.50' }) });
    }
    agent.destroy();

    const live = load.paid.filter(({ mode }) => mode === 'live').map(({ paymentId }) => paymentId);
    const ordered: string[] = [];
    for (let cursor = '0'; cursor; ) {
      const { body } = await simulator.call('GET', `/orders?limit=1000&cursor=${cursor}`, undefined, 'token');
      ordered.push(...body.orders.map((order: { payment_id: string }) => order.payment_id));
      cursor = body.next_cursor;
    }
    expect(ordered.toSorted()).toEqual(live.toSorted());

    const delivered = () => new Set(receiver.received.map(({ json }) => json.data.id));
    await expect.poll(() => load.paid.filter(({ paymentId }) => !delivered().has(paymentId))).toEqual([]);
    // Whichever version has ended a payment.
    const ofFurther = load.paid.slice(paidBefore).filter(({ mode }) => mode === 'live');
    const arrived = (kind: string) =>
      further.received.filter(({ json }) => json.event === kind).map(({ json }) => json.data.id);
    await expect
      .poll(() => ofFurther.filter(({ paymentId }) => !arrived('payment.succeeded').includes(paymentId)), {
        timeout: 30_000,
      })
      .toEqual([]);
    await expect.poll(() => [...new Set(arrived('payment.refunded'))]).toEqual([refunded]);
    const { rows: booked } = await pool.query('SELECT payment_id FROM refunds');
    expect(booked).toHaveLength(1);

    expect(await kopeckProcess(env, 'ledger', 'verify')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('The ledger is consistent'),
    });
    expect(await new_.stop(), new_.output()).toBe(0);
  },
  300_000,
);
