import { type Id, uuidFromId } from '../base/ids.ts';
import type { Queryable } from '../db/pool.ts';
import type { Mode } from './post.ts';

export interface Balances {
  availableMicroUsdt: bigint;
  heldMicroUsdt: bigint;
  settledMicroUsdt: bigint;
}

export async function openAccounts(db: Queryable, partnerId: Id<'prt'>): Promise<void> {
  await db.query({
    text: `INSERT INTO accounts (partner_id, mode) VALUES ($1, 'live'), ($1, 'test')`,
    values: [uuidFromId(partnerId)],
  });
}

export async function readBalances(db: Queryable, partnerId: Id<'prt'>): Promise<Record<Mode, Balances>> {
  const { rows } = await db.query<Balances & { mode: Mode }>({
    text: `SELECT mode, available AS "availableMicroUsdt", held AS "heldMicroUsdt", settled AS "settledMicroUsdt"
             FROM accounts WHERE partner_id = $1`,
    values: [uuidFromId(partnerId)],
  });
  const of = (mode: Mode) => {
    const row = rows.find(candidate => candidate.mode === mode);
    if (!row) throw new Error(`partner ${partnerId} has no ${mode} accounts`);
    const { mode: _, ...balances } = row;
    return balances;
  };
  return { live: of('live'), test: of('test') };
}
