import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { formatMicroUsdt } from '../base/money.ts';
import { writeNotice } from '../db/notices/index.ts';
import { type Pool, type Queryable, readValue, transaction } from '../db/postgres/index.ts';
import { credit, findCredited } from '../ledger/index.ts';
import type { DepositChain } from './chain/deposit-chain.ts';

interface CreditDeps {
  pool: Pool;
  clock: Clock;
  chain: Pick<DepositChain, 'name' | 'minMicroUsdt'>;
}

/** A locked account costs the partners after it this time, once a round. */
const lockTimeout = '250ms';

/**
 * Credits each partner whose deposits on this chain together reach the smallest amount, in a transaction of its own: an
 * account that is locked delays nobody else. Called in every round, so that what a crash, a lock or a higher smallest amount
 * has left is credited later.
 */
export async function creditDue(deps: CreditDeps): Promise<void> {
  const { pool, chain } = deps;
  const { rows } = await pool.query<{ partner_id: string }>({
    text: `SELECT partner_id FROM deposits WHERE chain = $1 AND state = 'accumulating'
            GROUP BY partner_id HAVING sum(micro_usdt) >= $2 ORDER BY partner_id`,
    values: [chain.name, chain.minMicroUsdt],
  });
  const failures: unknown[] = [];
  for (const { partner_id } of rows)
    await creditPartner(deps, idFromUuid('prt', partner_id)).catch(error => failures.push(error));
  if (failures.length === 0) return;
  const [first] = failures as Error[];
  throw new Error(`deposits of ${failures.length} partners could not be credited: ${first!.message}`, {
    cause: first,
  });
}

/** So many at once: a statement has six seconds, and payments of the partner wait for the credit. */
const creditedAtOnce = 500;

/** All that is final, allowed and not credited, if it reaches the smallest amount. The largest first, in slices. */
export async function creditPartner(deps: CreditDeps, partnerId: Id<'prt'>): Promise<void> {
  const { pool, chain } = deps;
  const isEnough = await readValue<boolean>(pool, {
    text: `SELECT sum(micro_usdt) >= $3 AS is_enough FROM deposits
            WHERE partner_id = $1 AND chain = $2 AND state = 'accumulating'`,
    values: [uuidFromId(partnerId), chain.name, chain.minMicroUsdt],
  });
  if (!isEnough) return;
  while ((await transaction(pool, tx => creditSlice(tx, deps, partnerId))) === creditedAtOnce);
}

interface DueDeposit extends DepositCredit {
  id: string;
}

/** How many were credited. What the ledger refuses, since an operator has used the reference, is held. */
async function creditSlice(
  tx: Queryable,
  { clock, chain: { name, minMicroUsdt } }: CreditDeps,
  partnerId: Id<'prt'>,
): Promise<number> {
  await tx.query({ text: `SELECT set_config('lock_timeout', $1, true)`, values: [lockTimeout] });
  const partner = uuidFromId(partnerId);
  // Locked, so that another process does not credit them too.
  const { rows: due } = await tx.query<DueDeposit>({
    text: `SELECT id, micro_usdt AS "microUsdt", reference FROM deposits
            WHERE partner_id = $1 AND chain = $2 AND state = 'accumulating'
            ORDER BY micro_usdt >= $3 DESC, id LIMIT ${creditedAtOnce} FOR UPDATE`,
    values: [partner, name, minMicroUsdt],
  });
  if (due.length === 0) return 0;
  const references = referencesOf(due, minMicroUsdt);
  const sums = new Map<string, bigint>();
  for (const [nth, { microUsdt }] of due.entries())
    sums.set(references[nth]!, (sums.get(references[nth]!) ?? 0n) + microUsdt);
  const credits = [...sums].map(([reference, microUsdt]) => ({ reference, microUsdt }));
  const refused = await creditDeposits(tx, clock, partnerId, credits);
  await tx.query({
    text: `UPDATE deposits d
              SET state = CASE WHEN c.is_refused THEN 'held' ELSE 'credited' END,
                  held_for = CASE WHEN c.is_refused THEN 'reference' ELSE d.held_for END,
                  credited_at = CASE WHEN NOT c.is_refused THEN $5::timestamptz END,
                  credit_reference = CASE WHEN NOT c.is_refused THEN c.reference END
             FROM (SELECT id, reference, reference = ANY ($4) AS is_refused
                     FROM unnest($2::uuid[], $3::text[]) AS c (id, reference)) AS c
            WHERE d.partner_id = $1 AND d.id = c.id`,
    values: [partner, due.map(({ id }) => id), references, refused, instantOf(clock)],
  });
  return due.length;
}

/**
 * A deposit that reaches the smallest amount is an entry of its own. Those below it are one entry with the reference of the
 * last of them, if together they reach it; else they go with the last of the others.
 */
function referencesOf(due: DueDeposit[], minMicroUsdt: bigint): string[] {
  const isEnough = ({ microUsdt }: DueDeposit) => microUsdt >= minMicroUsdt;
  const small = due.filter(deposit => !isEnough(deposit));
  const sum = small.reduce((total, { microUsdt }) => total + microUsdt, 0n);
  const others = due.filter(isEnough);
  const last = (sum < minMicroUsdt && others.at(-1)) || small.at(-1);
  return due.map(deposit => (isEnough(deposit) ? deposit : last!).reference);
}

interface DepositCredit {
  /** Names the ledger entry, which the ledger credits once. */
  reference: string;
  microUsdt: bigint;
}

/**
 * Puts deposits on the balance, in the transaction that changes their state, and returns the references that the ledger
 * refuses.
 */
export async function creditDeposits(
  tx: Queryable,
  clock: Clock,
  partnerId: Id<'prt'>,
  credits: DepositCredit[],
): Promise<string[]> {
  const items = credits.map(item => ({ ...item, partnerId, mode: 'live' as const }));
  const verdicts = await credit(tx, clock, items);
  const refused: string[] = [];
  for (const [nth, { reference, microUsdt }] of credits.entries()) {
    const verdict = verdicts[nth]!;
    if (verdict.outcome !== 'credited') refused.push(reference);
    else
      await writeNotice(tx, clock, partnerId, 'balance_credited', {
        mode: 'live',
        usdt: formatMicroUsdt(microUsdt),
        balance_usdt: formatMicroUsdt(verdict.balanceMicroUsdt),
        reference,
      });
  }
  return refused;
}

/**
 * Enough for any test, and the ledger does not fill up with it. Counted without a lock: a process books two at a time for a partner, so
 * a few may pass the limit together. It guards no money, and is not worth another transaction.
 */
const maxPerDay = 100;

/** A simulated deposit: credits the test balance once per reference of the partner. */
export async function creditTestDeposit(
  db: Queryable,
  clock: Clock,
  { partnerId, microUsdt, reference }: { partnerId: Id<'prt'>; microUsdt: bigint; reference: string },
): Promise<{ outcome: 'credited'; balanceMicroUsdt: bigint } | { outcome: 'conflict' | 'too_many' }> {
  const item = { partnerId, mode: 'test', reference: `deposit:test:${reference}` } as const;
  const isNew = (await findCredited(db, item)) === null;
  if (isNew && (await countToday(db, clock, partnerId)) >= maxPerDay) return { outcome: 'too_many' };
  const [verdict] = await credit(db, clock, [{ ...item, microUsdt }]);
  switch (verdict!.outcome) {
    case 'credited':
    case 'already_credited':
      return { outcome: 'credited', balanceMicroUsdt: verdict!.balanceMicroUsdt };
    case 'conflict':
      return { outcome: 'conflict' };
    case 'no_account':
      throw new Error(`partner ${partnerId} has no test account`);
  }
}

/** Credits of the test balance since midnight UTC. Only the last ones are read, however many there are. */
const countToday = (db: Queryable, clock: Clock, partnerId: Id<'prt'>) =>
  readValue<number>(db, {
    text: `SELECT count(*)::int AS count
             FROM (SELECT created_at FROM entries
                    WHERE partner_id = $1 AND mode = 'test' AND from_account = 'topup' AND payment_id IS NULL
                    ORDER BY entry_no DESC LIMIT ${maxPerDay}) AS last
            WHERE created_at >= date_trunc('day', $2::timestamptz, 'UTC')`,
    values: [uuidFromId(partnerId), instantOf(clock)],
  });
