import type { Pool, Statement } from '../../src/db/postgres/pool.ts';
import { depositInvariants } from '../../src/ledger/deposit-invariants.ts';
import type { Account } from './accounts.ts';
import { createChainTruth, type SimulatedChain } from './chain.ts';
import { countFault } from './chain-faults.ts';
import {
  type Books,
  checkDeposits,
  isFinal,
  type Known,
  readBooks,
  type StateRules,
  sumBy,
} from './deposit-rules.ts';
import type { History } from './histories.ts';
import type { World } from './world.ts';

interface Parts {
  chain: SimulatedChain;
  decimals: number;
  accounts: Account[];
  accountOf(partnerId: Account['partnerId']): string;
  minMicroUsdt(): bigint;
  /** Grows with everything that makes new work. */
  version(): number;
  /** Nodes give nothing of this account in this block: the first of them, or any. */
  isUnreadable(blockNumber: number, account: string, by: 'first' | 'any'): boolean;
  refusedAlone: ReadonlySet<string>;
  rules: StateRules;
}

const amountOf = ({ microUsdt }: { microUsdt: bigint }) => microUsdt;
const partnerOf = ({ uuid }: { uuid: string }) => uuid;

/** What is on record about deposits, compared with the chain. */
export function createDepositBooks(world: World, parts: Parts) {
  const { chain, decimals, accounts, accountOf, minMicroUsdt, isUnreadable } = parts;
  const uuidOf = new Map(accounts.map(({ partnerId, uuid }) => [accountOf(partnerId), uuid]));
  const truth = createChainTruth({ chain, decimals, uuidOf });
  const uuids = accounts.map(({ uuid }) => uuid);
  /** By history. */
  const known = new Map<History, Known>();

  const endedIn = ({ deposits }: Books) =>
    new Map(
      deposits.flatMap(({ key, state, reference }) =>
        state === 'credited' || state === 'rejected' ? [[key, `${state} ${reference}`] as const] : [],
      ),
    );

  function dueIn({ deposits }: Books): string[] {
    const waiting = deposits.filter(({ state }) => state === 'accumulating');
    const sums = sumBy(waiting, partnerOf, amountOf);
    return [...sums].filter(([, sum]) => sum >= minMicroUsdt()).map(([uuid]) => uuid);
  }

  function describe(books: Books, before: Known | undefined): Known {
    const final = books.deposits.filter(isFinal);
    const checks = (before?.checks ?? 0) + 1;
    const due = dueIn(books);
    const notDue = uuids.filter(uuid => !due.includes(uuid)).map(uuid => [uuid, checks] as const);
    return {
      credited: sumBy(books.credits, partnerOf, amountOf),
      ended: endedIn(books),
      final: new Set(final.map(({ key }) => key)),
      finalTransactions: new Set(final.map(({ transaction }) => transaction)),
      settledAt: before && isSettledIn(books) ? parts.version() : undefined,
      unread: new Set(books.unread),
      isMissing: isMissingIn(books),
      checks,
      notDue: new Map([...(before?.notDue ?? []), ...notDue]),
    };
  }

  /** What was unread, and can be read now. */
  function isMissingIn({ deposits }: Books): boolean {
    const final = new Set(deposits.filter(isFinal).map(({ key }) => key));
    return chain.blocks
      .slice(0, chain.finalNumber() + 1)
      .flatMap(truth.depositsOf)
      .some(({ key, blockNumber, account }) => !final.has(key) && !isUnreadable(blockNumber, account, 'any'));
  }

  /** Everything that was sent is credited, held, rejected, accumulating, unread, or shown as pending. */
  function isSettledIn(books: Books): boolean {
    const { cursor, deposits } = books;
    const final = new Set(deposits.filter(isFinal).map(({ key }) => key));
    const expected = chain.blocks
      .slice(cursor.block + 1)
      .flatMap(truth.depositsOf)
      .filter(({ key, microUsdt }) => microUsdt >= minMicroUsdt() && !final.has(key))
      .filter(({ blockNumber, account }) => !isUnreadable(blockNumber, account, 'first'));
    const pending = deposits.filter(({ state }) => state === 'pending');
    const listOf = (items: { key: string; units: bigint }[]) =>
      items.map(({ key, units }) => `${key} ${units}`).sort();
    return (
      cursor.block === chain.finalNumber() &&
      cursor.hash === chain.blocks[cursor.block]!.hash &&
      !deposits.some(({ state }) => state === 'screening') &&
      dueIn(books).length === 0 &&
      listOf(expected).join('\n') === listOf(pending).join('\n')
    );
  }

  return {
    /** The chain is watched from its final block on, by nobody yet. Nothing of an earlier run is in the way. */
    begin: async () => {
      const { pool } = world;
      const { number, hash, atMs } = chain.blocks[chain.finalNumber()]!;
      await pool.query(
        `DELETE FROM deposits WHERE state IN ('pending', 'held', 'screening', 'accumulating')`,
      );
      await pool.query('DELETE FROM deposit_chains');
      await pool.query(
        `INSERT INTO deposit_chains (chain, cursor_block, cursor_hash, cursor_time, final_block, checked_at, lease_until)
         VALUES ('ethereum', $1, $2, $3, $1, $3, $3)`,
        [number, hash, new Date(atMs)],
      );
    },
    /** Before the first transaction of a history: what it begins with is in its balances. */
    open: async (history: History): Promise<void> => {
      if (!known.has(history)) known.set(history, describe(await readBooks(history.pool, uuids), undefined));
    },
    /** After every commit of a watcher or an operator. */
    check: async (history: History): Promise<void> => {
      const books = await readBooks(history.pool, uuids);
      const before = known.get(history)!;
      checkDeposits(world, { ...parts, truth, uuids }, books, before);
      const now = describe(books, before);
      known.set(history, now);
      for (const { key, heldFor } of books.deposits)
        if (heldFor === 'late' && !before.final.has(key)) countFault(world, 'held as late');
      for (const subject of now.unread) if (!before.unread.has(subject)) countFault(world, 'left unread');
      const topUps = accounts.map(({ partnerId, uuid }) => ({
        partnerId,
        microUsdt: (now.credited.get(uuid) ?? 0n) - (before.credited.get(uuid) ?? 0n),
      }));
      if (topUps.every(({ microUsdt }) => microUsdt === 0n)) return;
      for (const { partnerId, microUsdt } of topUps) history.model.toppedUp(partnerId, Number(microUsdt));
      await history.database.changed();
    },
    /** When nothing is left to do. */
    checkEnd: async (history: History): Promise<void> => {
      const books = await readBooks(history.pool, uuids);
      if (!isSettledIn(books) || isMissingIn(books))
        world.violate('in the end everything is on record and credited', 'it is not');
      for (const [rule, text] of Object.entries(depositInvariants)) {
        const { rows } = await history.pool.query<{ partner_id: string; detail: string }>({ text });
        const found = rows.find(row => uuids.includes(row.partner_id));
        if (found) world.violate(rule, found.detail);
      }
    },
    isSettled: (history: History) => known.get(history)?.settledAt === parts.version(),
    knownOf: (history: History) => known.get(history)!,
  };
}

export type DepositBooks = ReturnType<typeof createDepositBooks>;

interface RoundParts {
  history: History;
  books: DepositBooks;
  uuids: string[];
}

/** A round of one process. What it finds to be due is credited by its end, unless the account is locked. */
export function createWatchedRound(world: World, { history, books, uuids }: RoundParts) {
  let due: { uuid: string; wasLocked: boolean }[] = [];
  let seenAtCheck = 0;
  let startedMs = 0;

  return {
    startedMs: () => startedMs,
    /**
     * The connection, which notes who is found to be due. It hides the addresses of earlier runs: with them a seed would run
     * otherwise.
     */
    listen: (pool: Pool): Pool => {
      const query = async (statement: Statement) => {
        if (statement.text.startsWith('WITH taken AS (UPDATE deposit_chains'))
          startedMs = world.scheduler.nowMs();
        const result = await pool.query<{ partner_id: string }>(statement);
        if (statement.text.includes('HAVING sum(micro_usdt)')) {
          seenAtCheck = books.knownOf(history).checks;
          due = result.rows.map(row => ({ uuid: row.partner_id, wasLocked: false }));
        }
        if (!statement.text.startsWith('SELECT account, partner_id FROM deposit_addresses')) return result;
        return { ...result, rows: result.rows.filter(row => uuids.includes(row.partner_id)) };
      };
      return { ...pool, query } as unknown as Pool;
    },
    /** Nothing can be said about a round whose connection was lost. */
    forget: () => {
      due = [];
    },
    wasRefused: (refused: string[]) => {
      for (const one of due) if (refused.includes(one.uuid)) one.wasLocked = true;
    },
    end: () => {
      const { notDue } = books.knownOf(history);
      const others = due.filter(({ wasLocked }) => !wasLocked);
      for (const { uuid } of others)
        if ((notDue.get(uuid) ?? 0) <= seenAtCheck)
          world.violate('a locked account delays no credit of another partner', uuid);
      if (others.length > 0 && others.length < due.length)
        countFault(world, 'credited beside a locked account');
      due = [];
    },
  };
}
