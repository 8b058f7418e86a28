import { afterEach, describe, expect, test, vi } from 'vitest';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { machineEnv } from '../clocks/world.ts';
import { newLink as newTestLink } from '../helpers/api.ts';
import { auditContextOf, keyring } from '../helpers/database.ts';
import { holdLocks } from '../helpers/locks.ts';
import { isPrometheusInstalled } from '../helpers/prometheus.ts';
import { blocksOf, statementsOf } from '../helpers/runbooks.ts';
import { startReceiver, withStatus } from '../helpers/webhook-receiver.ts';
import { administer, nowhere, startAlertWorld } from './world.ts';

/**
 * Each alert of ops/prometheus/rules.yaml, but those in alerts.test.ts, fires from a real fault of a running service, as a
 * real Prometheus sees it, and ends when its runbook is followed: commands and SQL are those of the page. The tests build on
 * each other: the service is stopped near the end.
 */
describe.runIf(isPrometheusInstalled)('alerts', async () => {
  if (!isPrometheusInstalled) return;
  const world = await startAlertWorld();
  const { pool, pay, fault, clearFaults, untilFiring, untilOver, isFiring, run, followSql } = world;
  const vault = createVault(keyring);
  const chatLock = 0x63686174;
  const rival = await pool.connect();
  rival.on('error', () => {});
  const rivalPid = (rival as unknown as { processID: number }).processID;
  await rival.query('SELECT pg_advisory_lock($1, 0)', [chatLock]);
  // A leader that sends nothing for 11 s would lose the lock.
  const pings = setInterval(() => rival.query('SELECT 1').catch(() => {}), 1_000);
  await world.start();
  const [shop, other] = [await world.newPartner(), await world.newPartner()];
  afterEach(() => world.clearFaults());

  test('KopeckBotWithoutLeader: another session holds the lock of the bot', async () => {
    await untilFiring('KopeckBotWithoutLeader');
    const ended = new Promise<void>(resolve => rival.once('end', resolve));
    const holders = await followSql('KopeckBotWithoutLeader', 0);
    expect(holders.map(({ pid }) => pid)).toEqual([rivalPid]);
    clearInterval(pings);
    await followSql('KopeckBotWithoutLeader', 1, holders[0].pid);
    await ended;
    rival.release(true);
    await untilOver('KopeckBotWithoutLeader');
    // A scrape that fails ends the alert before the bot has the lock.
    await expect
      .poll(async () => (await followSql('KopeckBotWithoutLeader', 0))[0]?.application_name, {
        timeout: 60_000,
      })
      .toBe('kopeck bot');
  });

  test('KopeckRateSourceFailing: one of two sources never answers', () =>
    untilFiring('KopeckRateSourceFailing'));

  test('KopeckDepositsLate: the chain stands still', async () => {
    await untilFiring('KopeckDepositsLate');
    expect((await run('deposit', 'chains')).stdout).toMatch(/ethereum +1 +3 +3 +2025-/);
    await expect
      .poll(async () => (await run('alarm', 'list')).stdout, { timeout: 90_000 })
      .toContain('deposit_chain_late');
    world.chain.startSec = Math.floor(Date.now() / 1_000) - world.chain.blocks.length;
    world.chain.mine();
    await untilOver('KopeckDepositsLate');
    // The alarm is checked once a minute.
  });

  test('KopeckQueueFull: the gateway is slow to read QR codes', async () => {
    // As long as a scrape of a busy machine may take, and less than the limit of the call.
    await fault({ on: 'resolve', kind: 'delay', ms: 9_000 });
    const link = await world.newLink();
    const paying = [shop, other].flatMap(({ liveKey }) =>
      Array.from({ length: 125 }, () => pay(liveKey, link)),
    );
    await untilFiring('KopeckQueueFull');
    await clearFaults();
    await Promise.all(paying);
    await untilOver('KopeckQueueFull');
  });

  test('KopeckPaymentStuck: the gateway has an order and no outcome', async () => {
    await fault({ on: 'pay', kind: 'finish_later', ms: 86_400_000, outcome: 'succeeded' });
    void pay(shop.liveKey, await world.newLink(), 2_000);
    await untilFiring('KopeckPaymentStuck');
    const listed = await run('payment', 'list', '--status', 'processing', '--json');
    const [payment] = listed.stdout.match(/pay_\w+/)!;
    expect((await run('payment', 'show', payment)).stdout).toMatch(/gateway order +ord_/);
    const outcome = ['--outcome', 'succeeded', '--reason', 'letter of the bank'];
    // Both are refused while a poll is under way, and say to try again.
    for (const command of [
      ['ask', payment],
      ['resolve', payment, ...outcome],
    ])
      await expect.poll(() => run('payment', ...command)).toMatchObject({ code: 0 });
    await untilOver('KopeckPaymentStuck');
  });

  test('KopeckDeliveriesFailing and KopeckWebhooksSuspended: an endpoint fails', async () => {
    const receiver = await startReceiver();
    receiver.answer(withStatus(500));
    await setWebhook(auditContextOf(pool), vault, shop.partnerId, receiver.url);
    for (let nth = 0; nth < 4; nth++) expect(await pay(shop.liveKey, await world.newLink())).toBe(200);
    await untilFiring('KopeckDeliveriesFailing');
    await untilFiring('KopeckWebhooksSuspended');
    expect((await run('alarm', 'list')).stdout).toMatch(new RegExp(`webhook_suspended +${shop.partnerId}`));
    receiver.answer(withStatus(200));
    receiver.received.length = 0;
    const { rows } = await pool.query('SELECT id FROM events');
    const stored = new Set(rows.map(({ id }) => `evt_${id}`));
    const { stdout } = await run('webhook', 'check', shop.partnerId);
    expect(stdout).toContain('Delivery was suspended and resumes now with the pending events.');
    await untilOver('KopeckWebhooksSuspended');
    // The fourth may have been on its way when the third was given up.
    expect((await run('webhook', 'resend', '--failed')).stdout).toMatch(/^Events to resend: [34]\./);
    const delivered = () => receiver.received.map(({ json }) => json.id).filter(id => stored.has(id));
    await expect.poll(() => new Set(delivered()).size).toBe(4);
  });

  test('KopeckDeliveriesLate: a foreign session locks the webhooks', async () => {
    const receiver = await startReceiver();
    await setWebhook(auditContextOf(pool), vault, other.partnerId, receiver.url);
    const { ended } = await holdLocks(world.url, 'LOCK TABLE endpoints IN SHARE ROW EXCLUSIVE MODE', []);
    expect(await pay(other.testKey, newTestLink(10_000))).toBe(200);
    await untilFiring('KopeckDeliveriesLate');
    // The service pauses between its tries to get the lock.
    const blocker = await vi.waitUntil(
      async () => {
        const sessions = await followSql('KopeckDeliveriesLate', 0);
        const blockers = new Set(sessions.flatMap(({ waits_for }) => waits_for as number[]));
        return sessions.find(({ pid, waits_for }) => blockers.has(pid) && waits_for.length === 0);
      },
      { timeout: 30_000 },
    );
    await followSql('KopeckDeliveriesLate', 1, blocker.pid);
    await ended;
    await untilOver('KopeckDeliveriesLate');
  });

  test('KopeckDatabaseUnavailable: the database was made read-only', async () => {
    const name = pool.options.database!;
    await administer(
      `ALTER DATABASE ${name} SET default_transaction_read_only = on`,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    );
    await untilFiring('KopeckDatabaseUnavailable');
    await expect.poll(world.readiness).toEqual({ ok: false, reason: 'the database is read-only' });
    const page = 'KopeckDatabaseUnavailable';
    const session = await pool.connect();
    const { rows } = await session.query(statementsOf(blocksOf(page, 'sql')[0]!)[0]!);
    session.release(true);
    expect(rows).toMatchObject([{ is_standby: false, read_only: 'on', source: 'database' }]);
    await followSql(page, 3);
    await untilOver('KopeckDatabaseUnavailable');
  });

  test('KopeckGatewayUnreachable and KopeckPaymentsRefused: the bank is down', async () => {
    const link = await world.newLink();
    await world.killBank();
    const refuse = async () => {
      await Promise.all(Array.from({ length: 12 }, () => pay(shop.liveKey, link)));
      return (await isFiring('KopeckGatewayUnreachable')) && isFiring('KopeckPaymentsRefused');
    };
    await expect.poll(refuse).toBe(true);
    await world.restartBank();
    // No payment tests it.
    await untilOver('KopeckGatewayUnreachable');
  });

  test('KopeckDown: the service is stopped', async () => {
    await world.stop();
    await untilFiring('KopeckDown');
  });

  test('KopeckReconciliationLate: four hours later the bank does not list its orders', async () => {
    // Only the passing of the time is made: the service's clock is the database's, and nobody can wait for it.
    await pool.query(`UPDATE service SET reconciled_at = reconciled_at - interval '4 hours'`);
    await pool.query(`UPDATE reconciliations SET finished_at = finished_at - interval '4 hours'`);
    await world.killBank();
    await world.start();
    await untilOver('KopeckDown');
    await untilFiring('KopeckReconciliationLate');
    await expect.poll(async () => (await run('alarm', 'list')).stdout).toContain('reconciliation_failed');
    expect(await run('reconcile')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no list of orders'),
    });
    await world.restartBank();
    await run('reconcile');
    await untilOver('KopeckReconciliationLate');
    await world.stop();
  });

  test('KopeckRateStale, KopeckAlarmOpen and KopeckClockOffset: no source answers, and the clock is ahead', async () => {
    await world.start({ RATE_SOURCES: `${nowhere}/rate`, ...machineEnv({ offsetMs: 10_000 }) });
    await untilFiring('KopeckRateStale');
    await untilFiring('KopeckAlarmOpen');
    await untilFiring('KopeckClockOffset');
    const { stdout } = await run('alarm', 'list');
    expect(stdout).toContain('rate_unavailable');
    expect(stdout).toContain('clock_offset');
    expect((await run('rate', 'show')).stdout).toMatch(/state +stale/);
    await world.start();
    await expect.poll(() => pay(shop.testKey, newTestLink(10_000))).toBe(200);
    await untilOver('KopeckRateStale');
    await untilOver('KopeckClockOffset');
  });
});
