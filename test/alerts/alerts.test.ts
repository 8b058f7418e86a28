import { afterEach, describe, expect, test } from 'vitest';
import { isPrometheusInstalled } from '../helpers/prometheus.ts';
import { administer, startAlertWorld } from './world.ts';

/** One alert of the service and one of its database; the others are in alerts.long.test.ts. */
describe.runIf(isPrometheusInstalled)('alerts', async () => {
  if (!isPrometheusInstalled) return;
  const world = await startAlertWorld();
  const { pool, pay, fault, untilFiring, untilOver, isFiring } = world;
  await world.start();
  const shop = await world.newPartner();
  afterEach(() => world.clearFaults());

  test('a service without faults has none of these', async () => {
    // A scrape that takes longer than a second makes the first of them fire for a moment.
    for (const name of [
      'KopeckDown',
      'KopeckDatabaseUnavailable',
      'KopeckGatewayUnreachable',
      'KopeckRateStale',
    ])
      await untilOver(name);
  });

  test('KopeckPaymentsFailing: the gateway declines', async () => {
    await fault({ on: 'pay', kind: 'decline' });
    await expect
      .poll(
        async () => {
          for (let nth = 0; nth < 5; nth++) await pay(shop.liveKey, await world.newLink());
          return isFiring('KopeckPaymentsFailing');
        },
        { timeout: 60_000 },
      )
      .toBe(true);
  });

  test('KopeckDatabaseUnavailable: the database refuses connections', async () => {
    const name = pool.options.database!;
    await administer(
      `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    );
    await untilFiring('KopeckDatabaseUnavailable');
    await administer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await untilOver('KopeckDatabaseUnavailable');
  });
});
