import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { type Queryable, readRow, readRows, readValue, withIds } from '../db/postgres/index.ts';
import type { AccountKey, Mode } from './post.ts';

export const accountNames = ['topup', 'treasury', 'available', 'held', 'settled'] as const;
export type AccountName = (typeof accountNames)[number];
/** The balances of a partner's five ledger accounts in one mode, in micro-USDT. */
export type Balances = Record<AccountName, bigint>;

export type EntryKind = 'credit' | 'grant' | 'hold' | 'settle' | 'release' | 'refund';

export interface Entry {
  entryNo: bigint;
  at: Date;
  kind: EntryKind;
  from: AccountName;
  to: AccountName;
  microUsdt: bigint;
  /** The balances of the two accounts after the entry. */
  fromAfter: bigint;
  toAfter: bigint;
  paymentId: Id<'pay'> | null;
  reference: string | null;
}

function kindOf(from: AccountName, to: AccountName): EntryKind {
  if (from === 'topup') return 'credit';
  if (from === 'treasury') return 'grant';
  if (from === 'available') return 'hold';
  if (from === 'settled') return 'refund';
  return to === 'settled' ? 'settle' : 'release';
}

const readEntry = withIds<Omit<Entry, 'kind'>>({ paymentId: 'pay' });

function toEntry(row: object): Entry {
  const entry = readEntry(row);
  return { ...entry, kind: kindOf(entry.from, entry.to) };
}

/** Entries with numbers in (above, upTo]. The entry of a refund has a reference; its payment is that of the refund. */
export async function listEntries(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  {
    above = 0n,
    upTo,
    limit,
    newestFirst,
    period,
  }: {
    above?: bigint;
    upTo: bigint;
    limit: number;
    newestFirst: boolean;
    /** When all of them were booked, if that is known. */
    period?: { start: Date; end: Date };
  },
): Promise<Entry[]> {
  const rows = await readRows(db, {
    text: `SELECT e.entry_no AS "entryNo", e.created_at AS at, e.from_account AS "from", e.to_account AS "to",
                  e.micro_usdt AS "microUsdt", e.from_after AS "fromAfter", e.to_after AS "toAfter", e.reference,
                  coalesce(e.payment_id, r.payment_id) AS "paymentId"
             FROM entries_between($1, $2, $3, $4, ${newestFirst}, $5, $6, $7) AS e
             LEFT JOIN refunds r ON r.partner_id = $1 AND r.mode = $2 AND r.entry_no = e.entry_no
            ORDER BY e.entry_no ${newestFirst ? 'DESC' : 'ASC'}`,
    values: [
      uuidFromId(partnerId),
      mode,
      above,
      upTo,
      limit,
      period?.start ?? '-infinity',
      period?.end ?? 'infinity',
    ],
  });
  return rows.map(toEntry);
}

export interface AccountBalances extends AccountKey {
  partner: string;
  balances: Balances;
  entries: bigint;
}

/** Accounts of all partners, newest partner first; `after` is the last one of the previous page. */
export async function listAccounts(
  db: Queryable,
  { after, limit }: { after?: AccountKey | undefined; limit: number },
): Promise<AccountBalances[]> {
  const rows = await readRows<
    Omit<AccountBalances, 'partnerId' | 'balances'> & Balances & { partner_id: string }
  >(db, {
    text: `SELECT a.partner_id, a.mode, p.name AS partner, ${accountNames.map(name => `a.${name}`).join(', ')}, a.entry_count - (
                    SELECT coalesce(sum(g.next_no - g.after_no - 1), 0) FROM entry_gaps g
                     WHERE g.partner_id = a.partner_id AND g.mode = a.mode)::bigint AS entries
             FROM accounts a JOIN partners p ON p.id = a.partner_id
            WHERE $1::uuid IS NULL OR (a.partner_id, a.mode) < ($1, $2::mode)
            ORDER BY a.partner_id DESC, a.mode DESC LIMIT $3`,
    values: [after ? uuidFromId(after.partnerId) : null, after?.mode ?? null, limit],
  });
  return rows.map(({ partner_id, mode, partner, entries, ...balances }) => ({
    partnerId: idFromUuid('prt', partner_id),
    ...{ mode, partner, balances, entries },
  }));
}

/** Each ledger account summed over all partners; in each mode the five sums add up to zero. */
export async function readTrialBalance(
  db: Queryable,
): Promise<Record<Mode, Balances & { partners: number }>> {
  const sum = (name: AccountName) => `coalesce(sum(${name}), 0)::text AS ${name}`;
  const { rows } = await db.query<Record<AccountName, string> & { mode: Mode; partners: number }>({
    text: `SELECT mode, count(*)::int AS partners, ${accountNames.map(sum).join(', ')} FROM accounts GROUP BY mode`,
  });
  const of = (mode: Mode) => {
    const row = rows.find(found => found.mode === mode);
    const balances = Object.fromEntries(
      accountNames.map(name => [name, BigInt(row?.[name] ?? 0)]),
    ) as Balances;
    return { ...balances, partners: row?.partners ?? 0 };
  };
  return { live: of('live'), test: of('test') };
}

/** The balances right after an entry that was booked before a moment, from the entries alone. */
export async function balancesAfter(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  entryNo: bigint,
  before: Date,
): Promise<Balances> {
  const { topup, treasury, available, held } = await readRow<Omit<Balances, 'settled'>>(db, {
    text: 'SELECT topup, treasury, available, held FROM ledger_balances_after($1, $2, $3, $4)',
    values: [uuidFromId(partnerId), mode, entryNo, before],
  });
  return { topup, treasury, available, held, settled: -(topup + treasury + available + held) };
}

/** What was available right before this moment. */
export async function availableBefore(db: Queryable, account: AccountKey, at: Date): Promise<bigint> {
  const upTo = await readValue<bigint>(db, {
    text: 'SELECT ledger_entries_before($1, $2, $3) AS up_to',
    values: [uuidFromId(account.partnerId), account.mode, at],
  });
  return (await balancesAfter(db, account, upTo, at)).available;
}

export interface OpenHold {
  entryNo: bigint;
  at: Date;
  microUsdt: bigint;
  paymentId: Id<'pay'>;
}

const batchSize = 5_000n;

/**
 * The holds that were open right after an entry, oldest first. Their sum is known and most of them are recent, so it reads
 * backwards only until the sum is reached. A hold comes before its end, so what ended has been read by then.
 */
export async function openHoldsAfter(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  entryNo: bigint,
  heldMicroUsdt: bigint,
): Promise<OpenHold[]> {
  const holds: OpenHold[] = [];
  const ended = new Set<string>();
  let missing = heldMicroUsdt;
  for (let upTo = entryNo; missing > 0n && upTo > 0n; upTo -= batchSize) {
    const { rows } = await db.query<Omit<OpenHold, 'paymentId'> & { payment_id: string; is_end: boolean }>({
      text: `SELECT entry_no AS "entryNo", created_at AS at, micro_usdt AS "microUsdt", payment_id, from_account = 'held' AS is_end
               FROM entries_between($1, $2, $3, $4, true, NULL) WHERE payment_id IS NOT NULL ORDER BY entry_no DESC`,
      values: [uuidFromId(partnerId), mode, upTo - batchSize, upTo],
    });
    for (const { payment_id, is_end, ...hold } of rows) {
      if (is_end) ended.add(payment_id);
      if (is_end || ended.has(payment_id)) continue;
      holds.push({ ...hold, paymentId: idFromUuid('pay', payment_id) });
      missing -= hold.microUsdt;
    }
  }
  if (missing !== 0n)
    throw new Error(`open holds of ${partnerId} are not what is held: ${missing} is missing`);
  return holds.toReversed();
}
