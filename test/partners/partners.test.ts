import { test as base, describe, expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { isUnderMaintenance, setMaintenance } from '../../src/controls/index.ts';
import { readBalances, verifyLedger } from '../../src/ledger/index.ts';
import {
  createPartner,
  findPartner,
  listPartners,
  setLimits,
  setSuspended,
} from '../../src/partners/index.ts';
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

  test('is suspended and resumed, with one audit record each', async ({ shop: { partnerId } }) => {
    expect(await setSuspended(audit, partnerId, true)).toMatchObject({ partner: { suspended: true } });
    await setSuspended(audit, partnerId, true);
    expect(await setSuspended(audit, partnerId, false)).toMatchObject({ partner: { suspended: false } });
    const changes = (await auditOf(partnerId)).map(({ action, before, after }) => ({
      action,
      before,
      after,
    }));
    expect(changes).toEqual([
      { action: 'partner.create', before: null, after: expect.objectContaining({ name: 'Shop' }) },
      { action: 'partner.suspend', before: { suspended: false }, after: { suspended: true } },
      { action: 'partner.resume', before: { suspended: true }, after: { suspended: false } },
    ]);
  });

  test('keeps the limits that were not changed', async ({ shop: { partnerId, limits } }) => {
    const changes = { maxKopecks: 50_000_000n, dailyKopecks: 0n, concurrent: 7 };
    const change = await setLimits(audit, partnerId, changes);
    const expected = { ...limits, ...changes };
    expect(change).toMatchObject({ outcome: 'done', partner: { limits: expected } });
    expect((await findPartner(pool, partnerId))!.limits).toEqual(expected);
    const [, entry] = await auditOf(partnerId);
    expect(entry).toMatchObject({
      action: 'partner.limits',
      before: { maxKopecks: '10000000', dailyKopecks: null },
      after: { maxKopecks: '50000000', dailyKopecks: '0', concurrent: 7 },
    });
  });

  test('that does not exist is not changed', async () => {
    const unknownId = newId('prt', systemClock);
    expect(await setSuspended(audit, unknownId, true)).toEqual({ outcome: 'no_partner' });
    expect(await setLimits(audit, unknownId, { concurrent: 1 })).toEqual({ outcome: 'no_partner' });
    expect(await findPartner(pool, unknownId)).toBeUndefined();
  });

  test('keeps both of two concurrent changes', async ({ shop: { partnerId } }) => {
    const changes = [{ concurrent: 5 }, { createRps: 6 }, { otherRps: 7 }];
    await Promise.all(changes.map(change => setLimits(audit, partnerId, change)));
    const { limits } = (await findPartner(pool, partnerId))!;
    expect(limits).toMatchObject({ concurrent: 5, createRps: 6, otherRps: 7 });
  });
});

test('switching maintenance is stored and audited', async () => {
  expect(await isUnderMaintenance(pool, systemClock)).toBe(false);
  await setMaintenance(audit, true);
  await setMaintenance(audit, true);
  expect(await isUnderMaintenance(pool, systemClock)).toBe(true);
  await setMaintenance(audit, false);
  const actions = (await auditOf('service')).map(({ action }) => action);
  expect(actions).toEqual(['maintenance.on', 'maintenance.off']);
});
