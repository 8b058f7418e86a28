import { type Alarms, listOpenSubjects } from '../alarms/index.ts';
import { formatMicroUsdt } from '../base/money.ts';
import type { Queryable } from '../db/pool.ts';
import type { DepositChain } from './chain/deposit-chain.ts';
import { creditReference } from './credit.ts';

const kind = 'deposit_held';
const reasons = {
  amount: 'more than a billion USDT',
  reference: 'its reference has already been credited',
  screening: 'held by the screening service',
  no_answer: 'no clear answer of the screening service',
};

/**
 * Each held deposit has an open alarm, and no other deposit of the chain has. Compared in every round, since a process may
 * die between the commit that holds a deposit and its alarm. Not below the smallest amount: anybody could flood people with
 * alarms of dust.
 */
export async function reportHeld(
  db: Queryable,
  alarms: Alarms,
  { name, title, minMicroUsdt }: Pick<DepositChain, 'name' | 'title' | 'minMicroUsdt'>,
): Promise<void> {
  const held = await listHeld(db, name, minMicroUsdt);
  const open = (await listOpenSubjects(db, kind)).filter(subject => subject.startsWith(`deposit:${name}:`));
  for (const { reference: subject, microUsdt, heldFor } of held) {
    const detail = `${formatMicroUsdt(microUsdt)} USDT on ${title}: ${reasons[heldFor]}. Credit or reject it.`;
    if (!open.includes(subject)) await alarms.raise({ kind, subject, detail });
  }
  for (const subject of open)
    if (!held.some(({ reference }) => reference === subject)) await alarms.clear(kind, subject);
}

interface HeldDeposit {
  transaction: string;
  logIndex: number;
  microUsdt: bigint;
  heldFor: keyof typeof reasons;
}

async function listHeld(db: Queryable, chain: string, minMicroUsdt: bigint) {
  const { rows } = await db.query<HeldDeposit>({
    text: `SELECT transaction, log_index AS "logIndex", micro_usdt AS "microUsdt", held_for AS "heldFor" FROM deposits
            WHERE chain = $1 AND state = 'held' AND micro_usdt >= $2 ORDER BY id`,
    values: [chain, minMicroUsdt],
  });
  return rows.map(row => ({ ...row, reference: creditReference(chain, row) }));
}
