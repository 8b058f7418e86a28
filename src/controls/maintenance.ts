import { type Desk, recordChange } from '../db/audit.ts';
import { leaveNotice } from '../db/notices.ts';
import { type Queryable, transaction } from '../db/pool.ts';
import { sharedRead } from '../db/shared-read.ts';

const readMaintenance = sharedRead<void, boolean>(async (db, askers) => {
  const { rows } = await db.query<{ maintenance: boolean }>({
    name: 'is under maintenance',
    text: 'SELECT maintenance FROM service',
  });
  return askers.map(() => rows[0]!.maintenance);
});

export const isUnderMaintenance = (db: Queryable) => readMaintenance(db);

/** While it is on, no new payment is accepted; those under way go on. */
export function setMaintenance(desk: Desk, maintenance: boolean): Promise<void> {
  return transaction(desk.pool, async tx => {
    const { rows } = await tx.query<{ maintenance: boolean }>({
      text: 'SELECT maintenance FROM service FOR UPDATE',
    });
    const before = rows[0]!.maintenance;
    if (before === maintenance) return;
    await tx.query({ text: 'UPDATE service SET maintenance = $1', values: [maintenance] });
    await recordChange(tx, desk, {
      action: maintenance ? 'maintenance.on' : 'maintenance.off',
      subject: 'service',
      before: { maintenance: before },
      after: { maintenance },
    });
    await leaveNotice(tx, desk.clock, null, maintenance ? 'maintenance_on' : 'maintenance_off');
  });
}

/** Tells partners of it and nothing else: an operator switches it on and off when its time has come. */
export function planMaintenance(desk: Desk, { from, until }: { from: Date; until: Date }): Promise<void> {
  return transaction(desk.pool, async tx => {
    const times = { from: from.toISOString(), until: until.toISOString() };
    await recordChange(tx, desk, { action: 'maintenance.plan', subject: 'service', after: times });
    await leaveNotice(tx, desk.clock, null, 'maintenance_planned', times);
  });
}
