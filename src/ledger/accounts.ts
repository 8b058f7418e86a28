import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { sharedRead } from '../db/batching/index.ts';
import type { Queryable } from '../db/postgres/index.ts';
import type { DatabaseGauge } from '../telemetry/index.ts';
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

const findBalances = sharedRead(async (db, asked: Id<'prt'>[]) => {
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
  return asked.map(partnerId => ({
    live: found.get(`${partnerId} live`),
    test: found.get(`${partnerId} test`),
  }));
});

export async function readBalances(db: Queryable, partnerId: Id<'prt'>): Promise<Record<Mode, Balances>> {
  const { live, test } = await findBalances(db, partnerId);
  if (!live || !test) throw new Error(`partner ${partnerId} has no accounts`);
  return { live, test };
}

/** Reads one row per partner and mode, whatever they have paid. */
export const ledgerGauges: DatabaseGauge[] = [
  {
    name: 'kopeck_balance_usdt',
    help: 'USDT of all partners: available, and held for unfinished payments',
    labels: ['mode', 'account'],
    sql: `SELECT ARRAY[s.mode::text, a.account], a.micro_usdt / 1e6
            FROM (SELECT mode, sum(available) AS available, sum(held) AS held FROM accounts GROUP BY mode) AS s
           CROSS JOIN LATERAL (VALUES ('available', s.available), ('held', s.held)) AS a (account, micro_usdt)`,
  },
];
