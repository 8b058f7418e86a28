import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, newId, uuidFromId } from '../../base/ids.ts';
import { ascending, divideRoundingDown, formatMicroUsdt } from '../../base/money.ts';
import { writeNotice } from '../../db/notices.ts';
import { type Pool, type Queryable, transaction } from '../../db/pool.ts';
import type { DepositChain } from '../chain/deposit-chain.ts';
import type { TransferLog } from '../chain/node.ts';
import { creditIfEnough, creditReference, maxMicroUsdt } from '../credit.ts';
import type { DepositState } from '../deposits.ts';
import type { Range, RangeResult } from './read-range.ts';

export type Accounts = ReadonlyMap<string, Id<'prt'>>;

/** What the column holds; the units are on record in full. */
const maxStored = 2n ** 63n - 1n;

/** Rounded down to six places; the rest stays on record. */
export function amountOf(units: bigint, decimals: number): { microUsdt: bigint; restUnits: bigint } {
  const unitsPerMicro = 10n ** BigInt(decimals - 6);
  const microUsdt = divideRoundingDown(units, unitsPerMicro);
  return { microUsdt, restUnits: units - microUsdt * unitsPerMicro };
}

interface Booking {
  pool: Pool;
  clock: Clock;
  chain: DepositChain;
  accounts: Accounts;
  /** Final deposits wait for the answer of the screening service; nothing is credited here. */
  isScreened: boolean;
}

/**
 * Books the final blocks after `cursor`: deposits, credits and the new cursor in one transaction. False if another watcher
 * has moved the cursor: then nothing is booked here.
 */
export const bookRange = (
  { pool, clock, chain, accounts, isScreened }: Booking,
  cursor: bigint,
  range: RangeResult,
): Promise<boolean> =>
  transaction(pool, async tx => {
    const { rowCount } = await tx.query({
      text: `UPDATE deposit_chains SET cursor_block = $3, cursor_hash = $4, cursor_time = $5,
                     final_block = greatest(final_block, $3)
              WHERE chain = $1 AND cursor_block = $2`,
      values: [chain.name, cursor, range.end.number, range.end.hash, new Date(range.end.atMs)],
    });
    if (rowCount !== 1) return false;
    for (const log of byPartner(range.transfers, accounts))
      await bookFinal(tx, { clock, chain, accounts, isScreened }, log);
    await tx.query({
      text: `UPDATE deposits SET state = 'dropped' WHERE chain = $1 AND state = 'pending' AND block_number <= $2`,
      values: [chain.name, range.end.number],
    });
    return true;
  });

/** In one order of partners, whatever the chain: two chains that credit the same partners at once cannot deadlock. */
const byPartner = (transfers: TransferLog[], accounts: Accounts): TransferLog[] =>
  transfers.toSorted((one, other) => {
    const [a, b] = [accounts.get(one.account)!, accounts.get(other.account)!];
    return a === b ? 0 : a < b ? -1 : 1;
  });

/** Each log once forever: one that is final already is left as it is. Each is credited with its own reference. */
async function bookFinal(
  tx: Queryable,
  { clock, chain, accounts, isScreened }: Omit<Booking, 'pool'>,
  log: TransferLog,
): Promise<void> {
  const partnerId = accounts.get(log.account)!;
  const isTooLarge = amountOf(log.units, chain.decimals).microUsdt > maxMicroUsdt;
  const state = isTooLarge ? 'held' : isScreened ? 'screening' : 'accumulating';
  const stored = await storeDeposit(tx, clock, chain, { partnerId, log, state });
  if (stored === 'final_before' || state !== 'accumulating') return;
  await creditIfEnough(tx, clock, chain, { partnerId, reference: creditReference(chain.name, log) });
}

/**
 * A final deposit is never changed by what a node says later. One that is not final may even become another partner's: the
 * place of a log is counted in its block, and in another block the logs of the same transaction have other places.
 */
async function storeDeposit(
  tx: Queryable,
  clock: Clock,
  chain: DepositChain,
  { partnerId, log, state }: { partnerId: Id<'prt'>; log: TransferLog; state: DepositState },
): Promise<'first_seen' | 'seen_before' | 'final_before'> {
  const { microUsdt, restUnits } = amountOf(log.units, chain.decimals);
  const now = instantOf(clock);
  const { rows } = await tx.query<{ is_first: boolean }>({
    text: `INSERT INTO deposits AS d (partner_id, id, chain, transaction, log_index, block_number, block_hash, sender,
                                      units, rest_units, micro_usdt, state, seen_at, final_at, held_for)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
           ON CONFLICT (chain, transaction, log_index) DO UPDATE
              SET partner_id = excluded.partner_id,
                  id = CASE WHEN d.partner_id = excluded.partner_id THEN d.id ELSE excluded.id END,
                  block_number = excluded.block_number,
                  block_hash = excluded.block_hash, sender = excluded.sender, units = excluded.units,
                  rest_units = excluded.rest_units, micro_usdt = excluded.micro_usdt, state = excluded.state,
                  final_at = excluded.final_at, held_for = excluded.held_for
            WHERE d.state IN ('pending', 'dropped')
           RETURNING d.id = $2 AS is_first`,
    values: [
      uuidFromId(partnerId),
      uuidFromId(newId('dep', clock)),
      chain.name,
      log.transaction,
      log.logIndex,
      log.blockNumber,
      log.blockHash,
      chain.formatAccount(log.sender),
      `${log.units}`,
      `${restUnits}`,
      ascending([microUsdt, maxStored])[0],
      state,
      now,
      state === 'pending' ? null : now,
      state === 'held' ? 'amount' : null,
    ],
  });
  if (!rows[0]) return 'final_before';
  return rows[0].is_first ? 'first_seen' : 'seen_before';
}

/** Not of what is below the smallest amount: anybody could flood a partner with notices of dust. */
async function noticeSeen(
  tx: Queryable,
  clock: Clock,
  { decimals, minMicroUsdt, title, usualMinutes }: DepositChain,
  partnerId: Id<'prt'>,
  { units }: TransferLog,
): Promise<void> {
  const { microUsdt } = amountOf(units, decimals);
  if (microUsdt < minMicroUsdt) return;
  const details = { usdt: formatMicroUsdt(microUsdt), chain: title, minutes: usualMinutes };
  await writeNotice(tx, clock, partnerId, 'deposit_seen', details);
}

export type PendingBooking = Omit<Booking, 'isScreened'>;

/**
 * What is seen in blocks that are not final, to be shown and never credited. One that is not there any more is dropped: its
 * block was replaced.
 */
export const storePending = (
  { pool, clock, chain, accounts }: PendingBooking,
  { fromBlock, toBlock }: Range,
  transfers: TransferLog[],
) =>
  transaction(pool, async tx => {
    for (const log of transfers) {
      const partnerId = accounts.get(log.account)!;
      const stored = await storeDeposit(tx, clock, chain, { partnerId, log, state: 'pending' });
      if (stored === 'first_seen') await noticeSeen(tx, clock, chain, partnerId, log);
    }
    const logs = transfers.map(({ transaction: hash, logIndex }) => `${hash}:${logIndex}`);
    await tx.query({
      text: `UPDATE deposits SET state = 'dropped' WHERE chain = $1 AND state = 'pending'
                AND block_number BETWEEN $2 AND $3 AND transaction || ':' || log_index <> ALL ($4)`,
      values: [chain.name, fromBlock, toBlock, logs],
    });
  });
