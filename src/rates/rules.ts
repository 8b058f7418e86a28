import { instantOf } from '../base/clock.ts';
import { type AuditContext, recordChange } from '../db/audit.ts';
import { type Queryable, transaction } from '../db/pool.ts';

/** How a rate is made of what the sources say, all in hundredths of a percent. */
export interface RateRules {
  /** What the house keeps. */
  spreadBps: number;
  /** A quote further than this from the median is left out. */
  bandBps: number;
  /** A leap of more than this from the last rate needs a second source. */
  jumpBps: number;
}

export interface StandingRules extends RateRules {
  /** Grows with every change; 0 before the first, when the settings count. */
  version: number;
  setBy: string | null;
  setAt: Date | null;
  reason: string | null;
}

const asBuilt = { bandBps: 500, jumpBps: 1_000 };

const selectRules = `SELECT version, spread_bps AS "spreadBps", band_bps AS "bandBps", jump_bps AS "jumpBps",
                            set_by AS "setBy", set_at AS "setAt", reason FROM rate_rules`;

/** Those that count now; `spreadBps` is that of the settings, for as long as nobody has changed it. */
export async function readRateRules(db: Queryable, spreadBps: number): Promise<StandingRules> {
  const { rows } = await db.query<StandingRules>({
    name: 'read rate rules',
    text: `${selectRules} ORDER BY version DESC LIMIT 1`,
  });
  return rows[0] ?? { version: 0, spreadBps, ...asBuilt, setBy: null, setAt: null, reason: null };
}

/** The last changes, newest first. */
export async function listRateRules(db: Queryable, limit: number): Promise<StandingRules[]> {
  const { rows } = await db.query<StandingRules>({
    text: `${selectRules} ORDER BY version DESC LIMIT $1`,
    values: [limit],
  });
  return rows;
}

/** Announced when the rules have changed, so that whoever refreshes the rate does so at once. */
export const rulesChanged = 'rate_rules_changed';

export interface RulesChange {
  rules: RateRules;
  reason: string;
  /** The version it was made on: who did not know of a later one is told. */
  expectedVersion: number;
}

export type RulesVerdict = { outcome: 'changed' | 'same' | 'stale'; rules: StandingRules };

export function changeRateRules(
  audit: AuditContext,
  spreadBps: number,
  { rules, reason, expectedVersion }: RulesChange,
): Promise<RulesVerdict> {
  return transaction(audit.pool, async tx => {
    // Versions count up one by one, so two at once must not read the same.
    await tx.query({ text: 'LOCK TABLE rate_rules IN SHARE ROW EXCLUSIVE MODE' });
    const before = await readRateRules(tx, spreadBps);
    if (before.version !== expectedVersion) return { outcome: 'stale', rules: before };
    const changed = (['spreadBps', 'bandBps', 'jumpBps'] as const).some(name => rules[name] !== before[name]);
    if (!changed) return { outcome: 'same', rules: before };
    await tx.query({
      text: `INSERT INTO rate_rules (spread_bps, band_bps, jump_bps, set_by, set_at, reason)
             VALUES ($1, $2, $3, $4, $5, $6)`,
      values: [rules.spreadBps, rules.bandBps, rules.jumpBps, audit.actor, instantOf(audit.clock), reason],
    });
    // Whatever was claimed, the next one to look refreshes.
    await tx.query({ text: `UPDATE rate_refresh SET claimed_at = '-infinity'` });
    await tx.query({ text: `NOTIFY ${rulesChanged}` });
    const after = await readRateRules(tx, spreadBps);
    await recordChange(tx, audit, {
      action: 'rate.rules',
      subject: 'rate',
      before: rulesObject(before),
      after: { ...rulesObject(after), reason },
    });
    return { outcome: 'changed', rules: after };
  });
}

/** For people and machines: percents as they are said. */
export const rulesObject = ({ spreadBps, bandBps, jumpBps }: RateRules) => ({
  spread_bps: spreadBps,
  band_percent: bandBps / 100,
  jump_percent: jumpBps / 100,
});
