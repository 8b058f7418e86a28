import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, newId, uuidFromId } from '../../base/ids.ts';
import { ascending, formatMicroUsdt } from '../../base/money.ts';
import { writeNotice } from '../../db/notices/index.ts';
import { type Pool, type Queryable, transaction } from '../../db/postgres/index.ts';
import { amountOf, maxMicroUsdt } from '../amount.ts';
import type { DepositChain } from '../chain/deposit-chain.ts';
import type { DepositState, HeldFor } from '../deposits.ts';
import type { Range, RangeResult, Transfer, Unread } from './read-range.ts';

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

/** The block that was booked last. */
export interface Cursor {
  block: bigint;
  hash: string;
}

/**
 * Books the final blocks after `cursor`: deposits and the new cursor in one transaction. Nothing is credited in it, so it
 * locks no account. False if another watcher or an operator has moved the cursor: then nothing is booked here.
 */
export const bookRange = (booking: Booking, cursor: Cursor, range: RangeResult): Promise<boolean> =>
  transaction(booking.pool, async tx => {
    const { chain, clock, accounts, isScreened } = booking;
    const { end, transfers, unconfirmed, unread } = range;
    const { rowCount } = await tx.query({
      text: `UPDATE deposit_chains SET cursor_block = $4, cursor_hash = $5, cursor_time = $6,
                     final_block = greatest(final_block, $4)
              WHERE chain = $1 AND cursor_block = $2 AND cursor_hash = $3`,
      values: [chain.name, cursor.block, cursor.hash, end.number, end.hash, new Date(end.atMs)],
    });
    if (rowCount !== 1) return false;
    await storeGaps(tx, booking, unread);
    const all = [...transfers, ...unconfirmed];
    const known = await readKnown(tx, booking, all);
    const gaps = await readGaps(tx, booking, all);
    const isUnread = new Set(unconfirmed);
    await storeDeposits(
      tx,
      { clock, chain, accounts },
      all
        .filter(transfer => !known.deposits.has(keyOf(transfer, accounts)))
        .map(transfer => {
          const isGap = isUnread.has(transfer) || gaps.has(`${transfer.blockNumber} ${transfer.account}`);
          const heldFor = heldForOf(transfer, chain, {
            isGap,
            isLate: known.transactions.has(transfer.transaction),
          });
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
  { units }: Transfer,
  { decimals }: DepositChain,
  { isGap, isLate }: { isGap: boolean; isLate: boolean },
): HeldFor | null {
  if (amountOf(units, decimals).microUsdt > maxMicroUsdt) return 'amount';
  return isGap ? 'unread' : isLate ? 'late' : null;
}

const keyOf = ({ transaction: hash, ordinal, account }: Transfer, accounts: Accounts) =>
  `${hash} ${ordinal} ${uuidFromId(accounts.get(account)!)}`;

/**
 * What is final already, read without a lock: an operator may have locked such a row. All logs of a transaction are in one
 * block and are booked together, so another one that comes later is nothing a chain does: a node has changed how it reports
 * the transaction.
 */
async function readKnown(
  tx: Queryable,
  { chain }: Booking,
  transfers: Transfer[],
): Promise<{ deposits: ReadonlySet<string>; transactions: ReadonlySet<string> }> {
  const { rows } = await tx.query<{ transaction: string; ordinal: number; partner_id: string }>({
    text: `SELECT transaction, ordinal, partner_id FROM deposits
            WHERE chain = $1 AND transaction = ANY ($2) AND final_at IS NOT NULL`,
    values: [chain.name, [...new Set(transfers.map(({ transaction: hash }) => hash))]],
  });
  return {
    deposits: new Set(rows.map(row => `${row.transaction} ${row.ordinal} ${row.partner_id}`)),
    transactions: new Set(rows.map(row => row.transaction)),
  };
}

const storeGaps = (tx: Queryable, { chain, clock, accounts }: Booking, unread: Unread[]) =>
  tx.query({
    text: `INSERT INTO deposit_gaps (chain, block_number, partner_id, found_at)
           SELECT $1, g.block_number, g.partner_id, $4
             FROM unnest($2::bigint[], $3::uuid[]) AS g (block_number, partner_id) ON CONFLICT DO NOTHING`,
    values: [
      chain.name,
      unread.map(({ blockNumber }) => blockNumber),
      unread.map(({ account }) => uuidFromId(accounts.get(account)!)),
      instantOf(clock),
    ],
  });

/** The blocks and accounts of these transfers that could not be read at another time. */
async function readGaps(
  tx: Queryable,
  { chain, accounts }: Booking,
  transfers: Transfer[],
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ block_number: bigint; partner_id: string }>({
    text: 'SELECT block_number, partner_id FROM deposit_gaps WHERE chain = $1 AND block_number = ANY ($2)',
    values: [chain.name, [...new Set(transfers.map(({ blockNumber }) => blockNumber))]],
  });
  const gaps = new Set(rows.map(row => `${row.block_number} ${row.partner_id}`));
  return new Set(
    transfers
      .filter(({ blockNumber, account }) => gaps.has(`${blockNumber} ${uuidFromId(accounts.get(account)!)}`))
      .map(({ blockNumber, account }) => `${blockNumber} ${account}`),
  );
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
    const rows = [...byId].map(([id, deposit]) => ({
      ...rowOf(deposit, chain),
      id,
      partner_id: uuidFromId(accounts.get(deposit.transfer.account)!),
      sender: addressOf(deposit.transfer.sender),
    }));
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

function rowOf({ transfer, state, heldFor }: NewDeposit, { decimals }: DepositChain) {
  const { microUsdt, restUnits } = amountOf(transfer.units, decimals);
  return {
    transaction: transfer.transaction,
    ordinal: transfer.ordinal,
    log_index: transfer.logIndex,
    block_number: `${transfer.blockNumber}`,
    block_hash: transfer.blockHash,
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
    const { decimals, minMicroUsdt, network, usualMinutes } = chain;
    const shown = transfers.filter(({ units }) => amountOf(units, decimals).microUsdt >= minMicroUsdt);
    const firstSeen = await storeDeposits(
      tx,
      { clock, chain, accounts },
      shown.map(transfer => ({ transfer, state: 'pending', heldFor: null })),
    );
    for (const { units, account } of firstSeen)
      await writeNotice(tx, clock, accounts.get(account)!, 'deposit_seen', {
        usdt: formatMicroUsdt(amountOf(units, decimals).microUsdt),
        chain: network,
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
