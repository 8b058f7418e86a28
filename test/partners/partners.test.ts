import { test as base, describe, expect } from 'vitest';
import { readBalances, verifyLedger } from '../../src/ledger/index.ts';
import { createPartner, findPartner, listPartners, setLimits } from '../../src/partners/index.ts';
import { endOfTime, manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
const audit = auditContextOf(pool, manualClock('2026-11-15T10:00:00Z'));

const auditOf = async (subject: string) => {
  const text = 'SELECT at, actor, action, before, after FROM audit WHERE subject = $1 ORDER BY id';
  return (await pool.query(text, [subject])).rows;
};
const test = base.extend('shop', () => createPartner(audit, 'Shop'));

describe('a partner', () => {
  test('starts active, with the limits of the contract, 10 000 test USDT and nothing live', async () => {
    const partner = await createPartner(audit, 'Кофейня');
    const limits = {
      ...{ minKopecks: 1_000n, maxKopecks: 10_000_000n, dailyKopecks: null, concurrent: 2 },
      ...{ createRps: 3, createBurst: 10, otherRps: 20 },
    };
    expect(partner).toMatchObject({ name: 'Кофейня', suspended: false, limits });
    const { live, test: trial } = await readBalances(pool, partner.partnerId);
    expect(live.availableMicroUsdt).toBe(0n);
    expect(trial.availableMicroUsdt).toBe(10_000_000_000n);
    expect(await findPartner(pool, partner.partnerId)).toEqual(partner);
    expect(await listPartners(pool)).toContainEqual(partner);
    const after = { name: 'Кофейня', test_balance_usdt: '10000.000000', live_approved: true };
    expect(await auditOf(partner.partnerId)).toEqual([
      {
        ...{ at: new Date('2026-11-15T10:00:00Z'), actor: 'test', action: 'partner.create', before: null },
        after: { ...after, limits: expect.any(Object) },
      },
    ]);
    expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
  });

  test('keeps both of two concurrent changes', async ({ shop: { partnerId } }) => {
    const changes = [{ concurrent: 5 }, { createRps: 6 }, { otherRps: 7 }];
    await Promise.all(changes.map(change => setLimits(audit, partnerId, change)));
    const { limits } = (await findPartner(pool, partnerId))!;
    expect(limits).toMatchObject({ concurrent: 5, createRps: 6, otherRps: 7 });
  });
});
