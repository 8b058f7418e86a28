import { instantOf } from '../base/clock.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { findRow, type Queryable, readRows, transaction } from '../db/postgres/index.ts';

/** How a rate is made from quotes; all values in basis points. */
export interface RateRules {
  /** The margin of the service. */
  spreadBps: number;
  /** A quote further than this from the median is left out. */
  bandBps: number;
  /** A jump of more than this from the last rate needs a second source. */
  jumpBps: number;
}

export interface CurrentRules extends RateRules {
  /** Grows with every change; 0 before the first, while the settings are in force. */
  version: number;
  setBy: string | null;
  setAt: Date | null;
  reason: string | null;
}

const defaults = { bandBps: 500, jumpBps: 1_000 };

const selectRules = `SELECT version, spread_bps AS "spreadBps", band_bps AS "bandBps", jump_bps AS "jumpBps",
                            set_by AS "setBy", set_at AS "setAt", reason FROM rate_rules`;

/** The rules in force; `spreadBps` is that of the settings, used until an operator changes the rules. */
export async function readRateRules(db: Queryable, spreadBps: number): Promise<CurrentRules> {
  const rules = await findRow<CurrentRules>(db, {
    name: 'read rate rules',
    text: `${selectRules} ORDER BY version DESC LIMIT 1`,
  });
  return rules ?? { version: 0, spreadBps, ...defaults, setBy: null, setAt: null, reason: null };
}

/** The last changes, newest first. */
export const listRateRules = (db: Queryable, limit: number) =>
  readRows<CurrentRules>(db, { text: `${selectRules} ORDER BY version DESC LIMIT $1`, values: [limit] });

/** The NOTIFY channel for changed rules: every process tries to refresh at once. */
export const rulesChanged = 'rate_rules_changed';

/** Any number that no other lock uses. */
const rulesLock = 718_000_003;

export type RulesVerdict = { outcome: 'changed' | 'same' | 'stale'; rules: CurrentRules };

/** Optimistic locking: with another version in force than the expected one, the outcome is `stale`. */
export const changeRateRules = (
  audit: AuditContext,
  spreadBps: number,
  { rules, reason, expectedVersion }: { rules: RateRules; reason: string; expectedVersion: number },
): Promise<RulesVerdict> =>
  transaction(audit.pool, async tx => {
    // Versions count up one by one, so two changes at once must not read the same one. Not a lock of the table: for that the
    // role of the service would need more than to read and to add.
    await tx.query({ text: `SELECT pg_advisory_xact_lock(${rulesLock})` });
    const before = await readRateRules(tx, spreadBps);
    if (before.version !== expectedVersion) return { outcome: 'stale', rules: before };
    const changed = (['spreadBps', 'bandBps', 'jumpBps'] as const).some(name => rules[name] !== before[name]);
    if (!changed) return { outcome: 'same', rules: before };
    await tx.query({
      text: `INSERT INTO rate_rules (spread_bps, band_bps, jump_bps, set_by, set_at, reason)
             VALUES ($1, $2, $3, $4, $5, $6)`,
      values: [rules.spreadBps, rules.bandBps, rules.jumpBps, audit.actor, instantOf(audit.clock), reason],
    });
    // Voids the claim, so that the next round of any process refreshes.
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

/** As the command line and the console show them. */
export const rulesObject = ({ spreadBps, bandBps, jumpBps }: RateRules) => ({
  spread_bps: spreadBps,
  band_percent: bandBps / 100,
  jump_percent: jumpBps / 100,
});
