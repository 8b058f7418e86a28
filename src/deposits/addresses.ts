import { type Clock, instantOf } from '../base/clock.ts';
import { type ChainName, depositSetting } from '../base/deposit-settings.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { refuseSetting } from '../base/operator-error.ts';
import { columnsOf, findRow, type Queryable, readRows } from '../db/postgres/index.ts';
import type { DepositChain, DepositChains, DerivedAddress } from './chain/deposit-chain.ts';

export interface DepositAddress extends Pick<DerivedAddress, 'address' | 'path'> {
  chain: DepositChain;
}

/**
 * The partner's addresses on the configured chains that are watched. They are on record before anybody sees them, since
 * only what is on record is watched. A chain is left out until its first round has set the cursor: a transfer to an address
 * that was shown before could be in a block that is never read.
 */
export async function openAddresses(
  db: Queryable,
  clock: Clock,
  chains: DepositChains,
  partnerId: Id<'prt'>,
): Promise<DepositAddress[]> {
  if (chains.size === 0) return [];
  let rows = await readAddresses(db, partnerId);
  const missing = [...chains.values()].filter(({ name }) => !rows.some(row => row.chain === name));
  for (const chain of missing) await storeAddresses(db, clock, chain, [partnerId]);
  if (missing.length > 0) rows = await readAddresses(db, partnerId);
  return [...chains.values()].flatMap(chain => {
    const row = rows.find(({ chain: name, isWatched }) => name === chain.name && isWatched);
    return row ? [{ chain, address: row.address, path: row.path }] : [];
  });
}

const readAddresses = (db: Queryable, partnerId: Id<'prt'>) =>
  readRows<Omit<DepositAddress, 'chain'> & { chain: ChainName; isWatched: boolean }>(db, {
    text: `SELECT a.chain, a.address, a.path, c.chain IS NOT NULL AS "isWatched"
             FROM deposit_addresses a LEFT JOIN deposit_chains c ON c.chain = a.chain WHERE a.partner_id = $1`,
    values: [uuidFromId(partnerId)],
  });

/**
 * One key per chain, forever: the path of an address does not say which key it belongs to, and a key that somebody has
 * replaced would send new deposits to them.
 */
export async function refuseOtherKey(db: Queryable, chain: DepositChain): Promise<void> {
  const first = await findRow<{ partner_id: string; account: string }>(db, {
    text: 'SELECT partner_id, account FROM deposit_addresses WHERE chain = $1 ORDER BY account LIMIT 1',
    values: [chain.name],
  });
  if (first && chain.deriveAddress(idFromUuid('prt', first.partner_id)).account !== first.account)
    refuseSetting(
      depositSetting(chain.name, 'XPUB'),
      'is another key than that of the addresses on record, which are permanent: use the first one',
    );
}

async function storeAddresses(
  db: Queryable,
  clock: Clock,
  chain: DepositChain,
  partnerIds: Id<'prt'>[],
): Promise<void> {
  await refuseOtherKey(db, chain);
  const derived = partnerIds.map(partnerId => chain.deriveAddress(partnerId));
  await db.query({
    text: `INSERT INTO deposit_addresses (partner_id, chain, address, account, path, created_at)
           SELECT n.partner_id, $1, n.address, n.account, n.path, $6
             FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) AS n (partner_id, address, account, path)
           ON CONFLICT (partner_id, chain) DO NOTHING`,
    values: [
      chain.name,
      partnerIds.map(uuidFromId),
      ...columnsOf(derived, 'address', 'account', 'path'),
      instantOf(clock),
    ],
  });
}

/** One derivation takes a millisecond, and the event loop is shared. */
const derivedAtOnce = 50;

/**
 * Every partner gets an address, also one who has not asked: after rows were lost, a partner may still know the address
 * and send to it. True when none is missing any more.
 */
export async function completeAddresses(db: Queryable, clock: Clock, chain: DepositChain): Promise<boolean> {
  const { rows } = await db.query<{ id: string }>({
    text: `SELECT p.id FROM partners p
            WHERE NOT EXISTS (SELECT FROM deposit_addresses a WHERE a.partner_id = p.id AND a.chain = $1)
            LIMIT ${derivedAtOnce}`,
    values: [chain.name],
  });
  const partnerIds = rows.map(({ id }) => idFromUuid('prt', id));
  if (rows.length > 0) await storeAddresses(db, clock, chain, partnerIds);
  return rows.length < derivedAtOnce;
}

/** Whose deposits go where. */
export async function readAccounts(db: Queryable, chain: ChainName): Promise<Map<string, Id<'prt'>>> {
  const { rows } = await db.query<{ account: string; partner_id: string }>({
    text: 'SELECT account, partner_id FROM deposit_addresses WHERE chain = $1',
    values: [chain],
  });
  return new Map(rows.map(row => [row.account, idFromUuid('prt', row.partner_id)]));
}

export interface SweepRow extends Omit<DepositAddress, 'chain'> {
  units: bigint;
}

const askedAtOnce = 10;

/** What lies on the addresses of a chain, by its first node, for a signer that is offline. Empty addresses are left out. */
export async function readSweep(
  db: Queryable,
  { name, nodes, contractAccount }: DepositChain,
): Promise<SweepRow[]> {
  const { rows } = await db.query<{ address: string; account: string; path: string }>({
    text: 'SELECT address, account, path FROM deposit_addresses WHERE chain = $1 ORDER BY address',
    values: [name],
  });
  const found: SweepRow[] = [];
  for (let first = 0; first < rows.length; first += askedAtOnce) {
    const asked = rows.slice(first, first + askedAtOnce);
    const balances = await Promise.all(
      asked.map(({ account }) => nodes[0]!.balance(contractAccount, account)),
    );
    asked.forEach(({ address, path }, nth) => {
      if (balances[nth]! > 0n) found.push({ address, path, units: balances[nth]! });
    });
  }
  return found;
}
