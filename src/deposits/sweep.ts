import type { Queryable } from '../db/postgres/index.ts';
import type { DepositChain } from './chain/deposit-chain.ts';

export interface SweepRow {
  address: string;
  path: string;
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
