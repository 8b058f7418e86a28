import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import type { Queryable } from '../db/pool.ts';
import { sharedRead } from '../db/shared-read.ts';
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

export const readBalances = sharedRead(async (db, asked: Id<'prt'>[]) => {
  const { rows } = await db.query<Balances & { partner_id: string; mode: Mode }>({
    name: 'read balances',
    text: `SELECT partner_id, mode, available AS "availableMicroUsdt", held AS "heldMicroUsdt",
                  settled AS "settledMicroUsdt"
             FROM accounts WHERE partner_id = ANY ($1)`,
    values: [asked.map(uuidFromId)],
  });
  const found = new Map(
    rows.map(({ partner_id, mode, ...balances }) => [`${idFromUuid('prt', partner_id)} ${mode}`, balances]),
  );
  const of = (partnerId: Id<'prt'>, mode: Mode): Balances => {
    const balances = found.get(`${partnerId} ${mode}`);
    if (!balances) throw new Error(`partner ${partnerId} has no ${mode} accounts`);
    return balances;
  };
  return asked.map(partnerId => ({ live: of(partnerId, 'live'), test: of(partnerId, 'test') }));
});
