import type { Account } from './accounts.ts';
import type { SimulatedChain } from './chain.ts';
import { contract } from './chain-nodes.ts';
import type { History } from './histories.ts';
import type { Screening } from './screening.ts';
import type { World } from './world.ts';

interface BookedDeposit {
  key: string;
  uuid: string;
  units: number;
  state: 'pending' | 'dropped' | 'screening' | 'accumulating' | 'credited' | 'held' | 'rejected';
  reference: string | null;
}

interface Books {
  cursor: number;
  deposits: BookedDeposit[];
  /** Entries of the ledger. */
  credits: { uuid: string; reference: string; microUsdt: number }[];
}

const statement = `
  SELECT (SELECT cursor_block::integer FROM deposit_chains) AS cursor,
         (SELECT coalesce(json_agg(row_to_json(d)), '[]') FROM (
            SELECT transaction || ' ' || log_index AS key, partner_id AS uuid, units, state,
                   credit_reference AS reference
              FROM deposits WHERE partner_id = ANY ($1)) AS d) AS deposits,
         (SELECT coalesce(json_agg(row_to_json(e)), '[]') FROM (
            SELECT partner_id AS uuid, reference, micro_usdt AS "microUsdt" FROM entries
             WHERE partner_id = ANY ($1) AND mode = 'live' AND reference LIKE 'deposit:%') AS e) AS credits`;

interface Known {
  /** By partner. */
  credited: Map<string, number>;
  /** The deposits that are credited or rejected, for good. */
  ended: Map<string, string>;
  /** At which version of the chain everything was on record. */
  settledAt: number | undefined;
}

interface Parts {
  chain: SimulatedChain;
  accounts: Account[];
  accountOf(partnerId: string): string;
  minMicroUsdt: bigint;
  /** In runs where deposits are screened. */
  screening: Screening | undefined;
}

/** What is on record about deposits, compared with the chain. */
export function createDepositBooks(
  world: World,
  { chain, accounts, accountOf, minMicroUsdt, screening }: Parts,
) {
  const { violate } = world;
  const uuidOf = new Map(accounts.map(({ partnerId, uuid }) => [accountOf(partnerId), uuid]));
  const uuids = accounts.map(({ uuid }) => uuid);
  /** By history. */
  const known = new Map<History, Known>();

  const read = async ({ pool }: Pick<History, 'pool'>): Promise<Books> =>
    (await pool.query<Books>({ name: 'deposits of the run', text: statement, values: [uuids] })).rows[0]!;

  const sumBy = <Item>(items: Item[], keyOf: (item: Item) => string, sizeOf: (item: Item) => number) => {
    const sums = new Map<string, number>();
    for (const item of items) sums.set(keyOf(item), (sums.get(keyOf(item)) ?? 0) + sizeOf(item));
    return sums;
  };
  const creditedIn = ({ credits }: Books) =>
    sumBy(
      credits,
      ({ uuid }) => uuid,
      ({ microUsdt }) => microUsdt,
    );
  const textOf = (sums: Map<string, number>) => JSON.stringify([...sums].sort());

  /** The deposits of a part of the chain, as the real token and the real blocks have them. */
  const realDeposits = (isIncluded: (blockNumber: number) => boolean) =>
    chain.blocks
      .filter(({ number }) => isIncluded(number))
      .flatMap(chain.logsOf)
      .filter(log => log.contract === contract && uuidOf.has(log.account) && log.units > 0n)
      .map(log => `${log.transaction} ${log.logIndex} ${uuidOf.get(log.account)} ${log.units}`)
      .sort();
  const onRecord = (deposits: BookedDeposit[]) =>
    deposits.map(({ key, uuid, units }) => `${key} ${uuid} ${units}`).sort();

  function isPermitted(key: string, state: BookedDeposit['state']): boolean {
    if (!screening) return state === 'accumulating' || state === 'credited';
    if (state === 'rejected') return screening.isDecided(key, 'rejected');
    if (state === 'accumulating') return screening.isAllowed(key);
    return state !== 'credited' || screening.isAllowed(key) || screening.isDecided(key, 'credited');
  }

  const endedIn = ({ deposits }: Books) =>
    new Map(
      deposits.flatMap(({ key, state, reference }) =>
        state === 'credited' || state === 'rejected' ? [[key, `${state} ${reference}`] as const] : [],
      ),
    );

  function compareEnded(before: Map<string, string>, ended: Map<string, string>): void {
    for (const [key, end] of before)
      if (ended.get(key) !== end)
        violate('a deposit that is credited or rejected stays so', `${end}, then ${ended.get(key)}`);
  }

  function compare({ cursor, deposits, credits }: Books): void {
    const final = deposits.filter(({ state }) => state !== 'pending' && state !== 'dropped');
    const [real, found] = [realDeposits(number => number <= cursor), onRecord(final)];
    if (cursor > chain.finalNumber())
      violate('nothing is booked before it is final', `${cursor}, final is ${chain.finalNumber()}`);
    if (real.join('\n') !== found.join('\n'))
      violate(
        'the final deposits up to the cursor are on record, each once',
        `${found.length} instead of ${real.length} up to block ${cursor}`,
      );
    const credited = final.filter(({ state }) => state === 'credited');
    const ofDeposits = sumBy(
      credited,
      ({ uuid, reference }) => `${uuid} ${reference}`,
      ({ units }) => units,
    );
    const ofLedger = sumBy(
      credits,
      ({ uuid, reference }) => `${uuid} ${reference}`,
      ({ microUsdt }) => microUsdt,
    );
    if (textOf(ofDeposits) !== textOf(ofLedger))
      violate('credits equal the final deposits', `${textOf(ofLedger)} instead of ${textOf(ofDeposits)}`);
    for (const { key, state } of final)
      if (!isPermitted(key, state))
        violate('only what is allowed or released is credited', `${key} ${state}`);
    const waiting = final.filter(({ state }) => state === 'accumulating');
    for (const [uuid, microUsdt] of sumBy(
      waiting,
      ({ uuid }) => uuid,
      ({ units }) => units,
    ))
      if (microUsdt >= minMicroUsdt)
        violate('what reaches the smallest amount is credited', `${uuid} ${microUsdt}`);
  }

  return {
    /** The chain is watched from its final block on, by nobody yet. Nothing of an earlier run is in the way. */
    begin: async () => {
      const { pool } = world;
      const { number, hash, atMs } = chain.blocks[chain.finalNumber()]!;
      await pool.query(`DELETE FROM deposits WHERE state IN ('pending', 'held')`);
      await pool.query('DELETE FROM deposit_chains');
      await pool.query(
        `INSERT INTO deposit_chains (chain, cursor_block, cursor_hash, cursor_time, final_block, checked_at, lease_until)
         VALUES ('ethereum', $1, $2, $3, $1, $3, $3)`,
        [number, hash, new Date(atMs)],
      );
    },
    /** Before the first transaction of a history: what it begins with is in its balances. */
    open: async (history: History): Promise<void> => {
      if (known.has(history)) return;
      const books = await read(history);
      known.set(history, { credited: creditedIn(books), ended: endedIn(books), settledAt: undefined });
    },
    /** After every commit of a watcher or an operator. */
    check: async (history: History): Promise<void> => {
      const books = await read(history);
      compare(books);
      const before = known.get(history)!;
      const [credited, ended] = [creditedIn(books), endedIn(books)];
      compareEnded(before.ended, ended);
      const pending = books.deposits.filter(({ state }) => state === 'pending');
      const isSettled =
        books.cursor === chain.finalNumber() &&
        !books.deposits.some(({ state }) => state === 'screening') &&
        realDeposits(number => number > books.cursor).join('\n') === onRecord(pending).join('\n');
      known.set(history, { credited, ended, settledAt: isSettled ? chain.version() : undefined });
      if (textOf(credited) === textOf(before.credited)) return;
      for (const { partnerId, uuid } of accounts)
        history.model.toppedUp(partnerId, (credited.get(uuid) ?? 0) - (before.credited.get(uuid) ?? 0));
      await history.database.changed();
    },
    isSettled: (history: History) => known.get(history)?.settledAt === chain.version(),
  };
}
