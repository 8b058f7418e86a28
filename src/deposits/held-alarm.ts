import { type Alarms, listOpenSubjects } from '../alarms/index.ts';
import { idFromUuid, parseId, uuidFromId } from '../base/ids.ts';
import { formatMicroUsdt } from '../base/money.ts';
import type { Queryable } from '../db/postgres/index.ts';
import type { DepositChain } from './chain/deposit-chain.ts';
import { type HeldFor, heldReasons } from './deposits.ts';

const kind = 'deposit_held';

/**
 * Each held deposit has an open alarm, and no other has. Compared in every round, since a process may die between the
 * commit that holds a deposit and its alarm. Not below the smallest amount: anybody could flood people with alarms of dust.
 */
export async function reportHeld(
  db: Queryable,
  alarms: Alarms,
  { name, title, minMicroUsdt }: Pick<DepositChain, 'name' | 'title' | 'minMicroUsdt'>,
): Promise<void> {
  const open = new Set(await listOpenSubjects(db, kind));
  const ids = [...open].flatMap(subject => parseId('dep', subject) ?? []).map(uuidFromId);
  const { rows } = await db.query<{
    id: string;
    micro_usdt: bigint;
    held_for: HeldFor | null;
    is_held: boolean;
  }>({
    text: `SELECT id, micro_usdt, held_for, state = 'held' AS is_held FROM deposits
            WHERE chain = $1 AND (state = 'held' AND micro_usdt >= $2 OR id = ANY ($3)) ORDER BY id`,
    values: [name, minMicroUsdt, ids],
  });
  for (const { id, micro_usdt, held_for, is_held } of rows) {
    const subject = idFromUuid('dep', id);
    const detail = `${formatMicroUsdt(micro_usdt)} USDT on ${title}: ${heldReasons[held_for!]}. Credit or reject it.`;
    if (is_held && !open.has(subject)) await alarms.raise({ kind, subject, detail });
    if (!is_held) await alarms.clear(kind, subject);
  }
}
