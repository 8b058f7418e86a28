import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, newId, uuidFromId } from '../../base/ids.ts';
import { ascending, formatMicroUsdt } from '../../base/money.ts';
import { writeNotice } from '../../db/notices.ts';
import { type Pool, type Queryable, transaction } from '../../db/pool.ts';
import { amountOf, maxMicroUsdt } from '../amount.ts';
import type { DepositChain } from '../chain/deposit-chain.ts';
import type { DepositState, HeldFor } from '../deposits.ts';
import type { Range, RangeResult, Transfer } from './read-range.ts';

export type Accounts = ReadonlyMap<string, Id<'prt'>>;

/** What the column holds; the units are on record in full. */
const maxStored = 2n ** 63n - 1n;
/** A block may be full of transfers; the event loop is free between two statements. */
const storedAtOnce = 1_000;

interface Booking {
  pool: Pool;
  clock: Clock;
  chain: DepositChain;
  accounts: Accounts;
  /** Final deposits wait for the answer of the screening service. */
  isScreened: boolean;
}

/**
 * Books the final blocks after `cursor`: deposits and the new cursor in one transaction. Nothing is credited in it, so it
 * locks no account. False if another watcher has moved the cursor: then nothing is booked here.
 */
export const bookRange = (
  { pool, clock, chain, accounts, isScreened }: Booking,
  cursor: bigint,
  { end, transfers }: RangeResult,
): Promise<boolean> =>
  transaction(pool, async tx => {
    const { rowCount } = await tx.query({
      text: `UPDATE deposit_chains SET cursor_block = $3, cursor_hash = $4, cursor_time = $5,
                     final_block = greatest(final_block, $3)
              WHERE chain = $1 AND cursor_block = $2`,
      values: [chain.name, cursor, end.number, end.hash, new Date(end.atMs)],
    });
    if (rowCount !== 1) return false;
    const booked = await findBooked(tx, chain, transfers);
    await storeDeposits(
      tx,
      { clock, chain, accounts },
      transfers.map(transfer => {
        const heldFor = heldForOf(transfer, chain, booked);
        const state = heldFor ? 'held' : isScreened ? 'screening' : 'accumulating';
        return { transfer, state, heldFor };
      }),
    );
    await tx.query({
      text: `UPDATE deposits SET state = 'dropped' WHERE chain = $1 AND state = 'pending' AND block_number <= $2`,
      values: [chain.name, end.number],
    });
    return true;
  });

function heldForOf(
  { units, transaction: hash }: Transfer,
  { decimals }: DepositChain,
  booked: ReadonlySet<string>,
): HeldFor | null {
  if (amountOf(units, decimals).microUsdt > maxMicroUsdt) return 'amount';
  return booked.has(hash) ? 'late' : null;
}

/**
 * Transactions of which deposits are final already. All logs of a transaction are in one block and are booked together, so
 * another one that comes later is nothing a chain does: a node has changed how it reports the transaction.
 */
async function findBooked(
  tx: Queryable,
  { name }: DepositChain,
  transfers: Transfer[],
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ transaction: string }>({
    text: `SELECT DISTINCT transaction FROM deposits
            WHERE chain = $1 AND transaction = ANY ($2) AND final_at IS NOT NULL`,
    values: [name, [...new Set(transfers.map(({ transaction: hash }) => hash))]],
  });
  return new Set(rows.map(row => row.transaction));
}

interface NewDeposit {
  transfer: Transfer;
  state: DepositState;
  heldFor: HeldFor | null;
}

/**
 * Each transfer once forever, and a final deposit is never changed by what a node says later. Returns those that nobody had
 * seen.
 */
async function storeDeposits(
  tx: Queryable,
  { clock, chain, accounts }: Pick<Booking, 'clock' | 'chain' | 'accounts'>,
  deposits: NewDeposit[],
): Promise<Transfer[]> {
  const firstSeen: Transfer[] = [];
  const addressOf = remember(chain.formatAccount);
  // One time for all: the ledger is verified by it.
  const at = instantOf(clock);
  for (let first = 0; first < deposits.length; first += storedAtOnce) {
    const slice = deposits.slice(first, first + storedAtOnce);
    const byId = new Map(slice.map(deposit => [uuidFromId(newId('dep', clock)), deposit]));
    const rows = [...byId].map(([id, deposit]) => rowOf(id, deposit, { chain, accounts, addressOf }));
    const { rows: stored } = await tx.query<{ id: string }>({
      name: 'store deposits',
      text: `INSERT INTO deposits AS d (partner_id, id, chain, transaction, ordinal, log_index, block_number, block_hash,
                                        sender, units, rest_units, micro_usdt, state, seen_at, final_at, held_for)
             SELECT r.partner_id, r.id, $1, r.transaction, r.ordinal, r.log_index, r.block_number, r.block_hash,
                    r.sender, r.units, r.rest_units, r.micro_usdt, r.state, $2::timestamptz,
                    CASE WHEN r.state <> 'pending' THEN $2::timestamptz END, r.held_for
               FROM jsonb_to_recordset($3) AS r (partner_id uuid, id uuid, transaction text, ordinal int, log_index int,
                      block_number bigint, block_hash text, sender text, units numeric, rest_units numeric,
                      micro_usdt bigint, state text, held_for text)
             ON CONFLICT (chain, transaction, partner_id, ordinal) DO UPDATE
                SET log_index = excluded.log_index, block_number = excluded.block_number,
                    block_hash = excluded.block_hash, sender = excluded.sender, units = excluded.units,
                    rest_units = excluded.rest_units, micro_usdt = excluded.micro_usdt, state = excluded.state,
                    final_at = excluded.final_at, held_for = excluded.held_for
              WHERE d.final_at IS NULL AND (d.state, d.block_hash) IS DISTINCT FROM (excluded.state, excluded.block_hash)
             RETURNING d.id`,
      values: [chain.name, at, JSON.stringify(rows)],
    });
    for (const { id } of stored) {
      const deposit = byId.get(id);
      if (deposit) firstSeen.push(deposit.transfer);
    }
  }
  return firstSeen;
}

/** A checksum takes some 50 µs, and dust comes from few senders. */
function remember(format: (account: string) => string): (account: string) => string {
  const known = new Map<string, string>();
  return account => {
    const address = known.get(account) ?? format(account);
    known.set(account, address);
    return address;
  };
}

interface RowParts extends Pick<Booking, 'chain' | 'accounts'> {
  addressOf(account: string): string;
}

function rowOf(
  id: string,
  { transfer, state, heldFor }: NewDeposit,
  { chain, accounts, addressOf }: RowParts,
) {
  const { microUsdt, restUnits } = amountOf(transfer.units, chain.decimals);
  return {
    partner_id: uuidFromId(accounts.get(transfer.account)!),
    id,
    transaction: transfer.transaction,
    ordinal: transfer.ordinal,
    log_index: transfer.logIndex,
    block_number: `${transfer.blockNumber}`,
    block_hash: transfer.blockHash,
    sender: addressOf(transfer.sender),
    units: `${transfer.units}`,
    rest_units: `${restUnits}`,
    micro_usdt: `${ascending([microUsdt, maxStored])[0]}`,
    state,
    held_for: heldFor,
  };
}

/**
 * What is seen in blocks that are not final, to be shown and never credited. One that is not there any more is dropped: its
 * block was replaced. What is below the smallest amount is shown once it is final: anybody could flood a partner with
 * notices of dust, and this round with work.
 */
export const storePending = (
  { pool, clock, chain, accounts }: Omit<Booking, 'isScreened'>,
  { fromBlock, toBlock }: Range,
  transfers: Transfer[],
) =>
  transaction(pool, async tx => {
    const { decimals, minMicroUsdt, title, usualMinutes } = chain;
    const shown = transfers.filter(({ units }) => amountOf(units, decimals).microUsdt >= minMicroUsdt);
    const firstSeen = await storeDeposits(
      tx,
      { clock, chain, accounts },
      shown.map(transfer => ({ transfer, state: 'pending', heldFor: null })),
    );
    for (const { units, account } of firstSeen)
      await writeNotice(tx, clock, accounts.get(account)!, 'deposit_seen', {
        usdt: formatMicroUsdt(amountOf(units, decimals).microUsdt),
        chain: title,
        minutes: usualMinutes,
      });
    const hashes = [...new Set(shown.map(({ blockHash }) => blockHash))];
    await tx.query({
      text: `UPDATE deposits SET state = 'dropped' WHERE chain = $1 AND state = 'pending'
                AND block_number BETWEEN $2 AND $3 AND block_hash <> ALL ($4)`,
      values: [chain.name, fromBlock, toBlock, hashes],
    });
  });

export type PendingBooking = Parameters<typeof storePending>[0];
