import { afterAll, describe, expect, test } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import { readSettings } from '../../src/base/settings.ts';
import { openDatabase } from '../../src/db/database.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createFundedPartner, newPaymentId } from '../helpers/database.ts';
import { createExternalServer, isOldestInstalled } from '../helpers/external-postgres.ts';
import { batchedPost } from '../helpers/ledger.ts';

if (!isOldestInstalled) {
  console.warn('\n!!! PostgreSQL 15 is not installed: its tests are SKIPPED. Run .ci/run to install it.\n');
}

describe.runIf(isOldestInstalled)('an outside PostgreSQL 15', async () => {
  if (!isOldestInstalled) return;
  const server = await createExternalServer('oldest');
  const { pool, close } = await openDatabase(readSettings({ DATABASE_URL: server.url }), () => {}, 'create');
  afterAll(async () => {
    await close();
    await server.stop('SIGINT');
    server.remove();
  });
  const post = batchedPost(pool, clock);
  const pay = async (partnerId: Awaited<ReturnType<typeof createFundedPartner>>) => {
    const item = { partnerId, mode: 'live', paymentId: newPaymentId() } as const;
    const { verdict } = await post({ operation: 'hold', ...item, microUsdt: 10n });
    return verdict === 'done' ? (await post({ operation: 'settle', ...item })).verdict : verdict;
  };

  test('holds the same ledger', async () => {
    const partnerId = await createFundedPartner(pool, 100n);
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => pay(partnerId)));
    expect(verdicts.filter(verdict => verdict === 'done')).toHaveLength(10);
    expect(verdicts.filter(verdict => verdict === 'insufficient')).toHaveLength(10);
    expect((await verifyLedger(pool)).findings).toEqual([]);
  });

  test('may be ended with kill -9 and started again under the pool', async () => {
    const partnerId = await createFundedPartner(pool, 100n);
    expect(await pay(partnerId)).toBe('done');
    await server.stop('SIGKILL');
    // A session may serve one more statement before it notices that its server is gone.
    await expect.poll(() => pay(partnerId).catch(() => 'refused')).toBe('refused');
    await server.start();
    await expect.poll(() => pay(partnerId).catch(() => 'not yet')).toBe('done');
    expect((await verifyLedger(pool)).findings).toEqual([]);
  });
});
