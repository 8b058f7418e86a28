import { beforeEach, expect, test } from 'vitest';
import {
  cancelMaintenance,
  isUnderMaintenance,
  listMaintenance,
  planMaintenance,
  setMaintenance,
} from '../../src/controls/index.ts';
import { createTimedDatabase } from '../helpers/database.ts';

const { pool, clock, audit } = await createTimedDatabase();
const isOn = () => isUnderMaintenance(pool, clock);
const inHours = (from: number, until: number) => ({
  from: new Date(clock.nowMs() + from * 3_600_000),
  until: new Date(clock.nowMs() + until * 3_600_000),
});
const plan = async (from: number, until: number) => {
  const planned = await planMaintenance(audit, inHours(from, until));
  if (planned.outcome !== 'planned') throw new Error(planned.outcome);
  return planned.windowId;
};
const notices = async () =>
  (await pool.query('SELECT kind FROM partner_notices ORDER BY id')).rows.map(({ kind }) => kind);
const auditActions = async () =>
  (await pool.query('SELECT action FROM audit ORDER BY id')).rows.map(({ action }) => action);

beforeEach(async () => {
  await pool.query('DELETE FROM maintenance_windows');
  await pool.query('TRUNCATE partner_notices');
});

test('a window opens and ends by itself', async () => {
  await plan(1, 2);
  expect(await isOn()).toBe(false);
  clock.advance(3_600_000 - 1);
  expect(await isOn()).toBe(false);
  clock.advance(1);
  expect(await isOn()).toBe(true);
  clock.advance(3_600_000 - 1);
  expect(await isOn()).toBe(true);
  clock.advance(1);
  expect(await isOn()).toBe(false);
  expect(await notices()).toEqual(['maintenance_planned']);
  expect(await listMaintenance(pool, clock)).toEqual([]);
});

test('concurrent callers are answered by their own clocks', async () => {
  await plan(1, 2);
  const later = (hours: number) => ({ ...clock, nowMs: () => clock.nowMs() + hours * 3_600_000 });
  const answers = await Promise.all([0, 1.5, 2, 1].map(hours => isUnderMaintenance(pool, later(hours))));
  expect(answers).toEqual([false, true, false, true]);
});

test('a cancelled window does not open, and partners are notified', async () => {
  const windowId = await plan(1, 2);
  expect(await cancelMaintenance(audit, windowId)).toBe('cancelled');
  expect(await cancelMaintenance(audit, windowId)).toBe('no_window');
  clock.advance(5_400_000);
  expect(await isOn()).toBe(false);
  expect(await notices()).toEqual(['maintenance_planned', 'maintenance_cancelled']);
  expect((await auditActions()).slice(-2)).toEqual(['maintenance.plan', 'maintenance.cancel']);
});

test('an open window ends when it is cancelled, or when maintenance is switched off', async () => {
  for (const end of [(id: bigint) => cancelMaintenance(audit, id), () => setMaintenance(audit, false)]) {
    const windowId = await plan(-1, 1);
    const toCome = await plan(3, 4);
    expect(await isOn()).toBe(true);
    await end(windowId);
    expect(await isOn()).toBe(false);
    expect((await notices()).at(-1)).toBe('maintenance_off');
    expect(await listMaintenance(pool, clock)).toMatchObject([{ windowId: toCome, plannedBy: 'test' }]);
    await cancelMaintenance(audit, toCome);
  }
});

test('partners are not notified of an end while another reason for maintenance remains', async () => {
  const first = await plan(-1, 1);
  const second = await plan(-1, 2);
  const before = (await notices()).length;
  await cancelMaintenance(audit, first);
  expect(await isOn()).toBe(true);
  expect((await notices()).slice(before)).toEqual([]);
  await cancelMaintenance(audit, second);
  expect((await notices()).slice(before)).toEqual(['maintenance_off']);
});

test('an impossible window is refused and writes nothing', async () => {
  expect(await planMaintenance(audit, inHours(2, 1))).toEqual({ outcome: 'until_before_from' });
  expect(await planMaintenance(audit, inHours(1, 170))).toEqual({ outcome: 'too_long' });
  expect(await planMaintenance(audit, inHours(-2, -1))).toEqual({ outcome: 'over_already' });
  expect(await notices()).toEqual([]);
});
