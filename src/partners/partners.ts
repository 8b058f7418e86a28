import { isDeepStrictEqual } from 'node:util';
import { instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, newId, uuidFromId } from '../base/ids.ts';
import { formatKopecks, formatMicroUsdt } from '../base/money.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { writeNotice } from '../db/notices/index.ts';
import { findRow, type Queryable, readRows, transaction } from '../db/postgres/index.ts';
import { credit, openAccounts } from '../ledger/index.ts';

/** Limits of a partner; the contract has the defaults. */
export interface Limits {
  minKopecks: bigint;
  maxKopecks: bigint;
  /** Null: no limit. */
  dailyKopecks: bigint | null;
  concurrent: number;
  createRps: number;
  createBurst: number;
  otherRps: number;
}

/** Of what people pay by hand in the portal. */
export interface ByHandLimits {
  maxKopecks: bigint;
  /** Of a day (UTC) in one mode. */
  dailyKopecks: bigint;
}

/** The limits as the console and the command line show them. */
export const limitsObject = (limits: Limits) => ({
  min_rub: formatKopecks(limits.minKopecks),
  max_rub: formatKopecks(limits.maxKopecks),
  daily_rub: limits.dailyKopecks === null ? null : formatKopecks(limits.dailyKopecks),
  concurrent: limits.concurrent,
  create_rps: limits.createRps,
  create_burst: limits.createBurst,
  other_rps: limits.otherRps,
});

export interface Partner {
  partnerId: Id<'prt'>;
  name: string;
  suspended: boolean;
  /** False for a partner that signed up in the bot, until an operator approves live keys. */
  liveApproved: boolean;
  createdAt: Date;
  /** The IANA name of the zone in which the portal and its reports show days and times. */
  timeZone: string;
  limits: Limits;
  byHand: ByHandLimits;
}

/** The test balance of a new partner. */
const testGrantMicroUsdt = 10_000_000_000n;

export const createPartner = (audit: AuditContext, name: string): Promise<Partner> =>
  transaction(audit.pool, tx => addPartner(tx, audit, { name, liveApproved: true }));

export async function addPartner(
  tx: Queryable,
  audit: AuditContext,
  { name, liveApproved }: Pick<Partner, 'name' | 'liveApproved'>,
): Promise<Partner> {
  const partnerId = newId('prt', audit.clock);
  await tx.query({
    text: 'INSERT INTO partners (id, name, live_approved, created_at) VALUES ($1, $2, $3, $4)',
    values: [uuidFromId(partnerId), name, liveApproved, instantOf(audit.clock)],
  });
  await openAccounts(tx, partnerId);
  await grantTestBalance(tx, audit, partnerId, 'kopeck: test balance');
  const partner = (await findPartner(tx, partnerId))!;
  await recordChange(tx, audit, {
    action: 'partner.create',
    subject: partnerId,
    after: {
      name,
      limits: partner.limits,
      test_balance_usdt: formatMicroUsdt(testGrantMicroUsdt),
      live_approved: liveApproved,
    },
  });
  return partner;
}

async function grantTestBalance(
  tx: Queryable,
  { clock }: AuditContext,
  partnerId: Id<'prt'>,
  reference: string,
) {
  const grant = { partnerId, mode: 'test', reference, microUsdt: testGrantMicroUsdt } as const;
  const [verdict] = await credit(tx, clock, [grant], 'treasury');
  return verdict!;
}

/** At most once a day: enough for any test, and the ledger does not fill up with it. */
export const refillTestBalance = (
  audit: AuditContext,
  partnerId: Id<'prt'>,
): Promise<'refilled' | 'not_again_today'> =>
  transaction(audit.pool, async tx => {
    const today = instantOf(audit.clock).toISOString().slice(0, 10);
    const verdict = await grantTestBalance(tx, audit, partnerId, `kopeck: test balance of ${today}`);
    if (verdict.outcome !== 'credited') return 'not_again_today';
    await recordChange(tx, audit, {
      action: 'balance.refill',
      subject: partnerId,
      after: { mode: 'test', usdt: formatMicroUsdt(testGrantMicroUsdt) },
    });
    return 'refilled';
  });

export interface PartnerRow extends Omit<Partner, 'partnerId' | 'limits' | 'byHand'>, Limits {
  id: string;
  byHandMax: bigint;
  byHandDaily: bigint;
}

export const selectPartners = `
  SELECT p.id, p.name, p.suspended, p.live_approved AS "liveApproved", p.created_at AS "createdAt",
         p.time_zone AS "timeZone",
         p.min_kopecks AS "minKopecks", p.max_kopecks AS "maxKopecks", p.daily_kopecks AS "dailyKopecks", p.concurrent,
         p.create_rps AS "createRps", p.create_burst AS "createBurst", p.other_rps AS "otherRps",
         p.by_hand_max_kopecks AS "byHandMax", p.by_hand_daily_kopecks AS "byHandDaily"`;

export function toPartner({
  id,
  name,
  suspended,
  liveApproved,
  createdAt,
  timeZone,
  ...row
}: PartnerRow): Partner {
  const { minKopecks, maxKopecks, dailyKopecks, concurrent, createRps, createBurst, otherRps } = row;
  const limits = { minKopecks, maxKopecks, dailyKopecks, concurrent, createRps, createBurst, otherRps };
  const byHand = { maxKopecks: row.byHandMax, dailyKopecks: row.byHandDaily };
  return {
    partnerId: idFromUuid('prt', id),
    name,
    suspended,
    liveApproved,
    createdAt,
    timeZone,
    limits,
    byHand,
  };
}

export const listPartners = async (db: Queryable): Promise<Partner[]> =>
  (await readRows<PartnerRow>(db, { text: `${selectPartners} FROM partners p ORDER BY p.id` })).map(
    toPartner,
  );

export async function findPartner(db: Queryable, partnerId: Id<'prt'>, lock: 'FOR UPDATE' | '' = '') {
  const row = await findRow<PartnerRow>(db, {
    text: `${selectPartners} FROM partners p WHERE p.id = $1 ${lock}`,
    values: [uuidFromId(partnerId)],
  });
  return row && toPartner(row);
}

/** The row is locked until the transaction ends. */
export const lockPartner = (tx: Queryable, partnerId: Id<'prt'>) => findPartner(tx, partnerId, 'FOR UPDATE');

export type PartnerChange = { outcome: 'done'; partner: Partner } | { outcome: 'no_partner' };

/** A repeat changes nothing and writes no audit record. */
export const setSuspended = (
  audit: AuditContext,
  partnerId: Id<'prt'>,
  suspended: boolean,
  /** For the audit log. */
  reason?: string,
): Promise<PartnerChange> =>
  transaction(audit.pool, async tx => {
    const partner = await lockPartner(tx, partnerId);
    if (!partner) return { outcome: 'no_partner' };
    if (partner.suspended !== suspended) {
      await tx.query({
        text: 'UPDATE partners SET suspended = $2 WHERE id = $1',
        values: [uuidFromId(partnerId), suspended],
      });
      await recordChange(tx, audit, {
        action: suspended ? 'partner.suspend' : 'partner.resume',
        subject: partnerId,
        before: { suspended: partner.suspended },
        after: { suspended, ...(reason === undefined ? {} : { reason }) },
      });
    }
    return { outcome: 'done', partner: { ...partner, suspended } };
  });

export const setLimits = (
  audit: AuditContext,
  partnerId: Id<'prt'>,
  changes: Partial<Limits>,
  /** The limits that the change is based on; undefined skips this check. */
  expected?: Limits,
): Promise<PartnerChange | { outcome: 'min_above_max' | 'stale'; limits: Limits }> =>
  transaction(audit.pool, async tx => {
    const partner = await lockPartner(tx, partnerId);
    if (!partner) return { outcome: 'no_partner' };
    if (expected && !isDeepStrictEqual(expected, partner.limits))
      return { outcome: 'stale', limits: partner.limits };
    const limits: Limits = { ...partner.limits, ...changes };
    if (limits.minKopecks > limits.maxKopecks) return { outcome: 'min_above_max', limits };
    if (isDeepStrictEqual(limits, partner.limits)) return { outcome: 'done', partner };
    const { minKopecks, maxKopecks, dailyKopecks, concurrent, createRps, createBurst, otherRps } = limits;
    const perSecond = [createRps, createBurst, otherRps];
    await tx.query({
      text: `UPDATE partners
                SET min_kopecks = $2, max_kopecks = $3, daily_kopecks = $4, concurrent = $5,
                    create_rps = $6, create_burst = $7, other_rps = $8
              WHERE id = $1`,
      values: [uuidFromId(partnerId), minKopecks, maxKopecks, dailyKopecks, concurrent, ...perSecond],
    });
    await recordChange(tx, audit, {
      action: 'partner.limits',
      subject: partnerId,
      before: partner.limits,
      after: limits,
    });
    return { outcome: 'done', partner: { ...partner, limits } };
  });

type Decision = { outcome: 'done' | 'already_approved'; partner: Partner } | { outcome: 'no_partner' };

/** Allows live keys to a partner that signed up in the bot; a repeat changes nothing. */
export const approveLive = (audit: AuditContext, partnerId: Id<'prt'>) => decide(audit, partnerId, true);

/** The partner stays in test mode and is notified. An operator may still approve it later. */
export const refuseLive = (audit: AuditContext, partnerId: Id<'prt'>) => decide(audit, partnerId, false);

const decide = (audit: AuditContext, partnerId: Id<'prt'>, approved: boolean): Promise<Decision> =>
  transaction(audit.pool, async tx => {
    const partner = await lockPartner(tx, partnerId);
    if (!partner) return { outcome: 'no_partner' };
    if (partner.liveApproved) return { outcome: 'already_approved', partner };
    await tx.query({
      text: 'UPDATE partners SET live_approved = $2, live_refused_at = $3 WHERE id = $1',
      values: [uuidFromId(partnerId), approved, approved ? null : instantOf(audit.clock)],
    });
    await recordChange(tx, audit, {
      action: approved ? 'partner.approve' : 'partner.refuse',
      subject: partnerId,
      before: { live_approved: false },
      after: { live_approved: approved },
    });
    await writeNotice(tx, audit.clock, partnerId, approved ? 'live_approved' : 'live_refused');
    return { outcome: 'done', partner: { ...partner, liveApproved: approved } };
  });
