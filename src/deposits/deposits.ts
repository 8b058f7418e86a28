import type { ChainName } from '../base/deposit-settings.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { findRow, type Queryable, readRows, readValue, type Stored, withIds } from '../db/postgres/index.ts';
import type { DatabaseGauge } from '../telemetry/index.ts';

export const depositStates = [
  'pending',
  'dropped',
  'screening',
  'accumulating',
  'credited',
  'held',
  'rejected',
] as const;
export type DepositState = (typeof depositStates)[number];

/** Why an operator has to decide. */
export const heldReasons = {
  amount: 'more than a billion USDT',
  reference: 'its reference has already been credited',
  screening: 'held by the screening service',
  no_answer: 'no clear answer of the screening service',
  late: 'other deposits of its transaction were booked before, compare all of them with the chain',
  unread: 'a node could not give its block, compare with what was credited by hand',
};
export type HeldFor = keyof typeof heldReasons;

export interface Deposit {
  depositId: Id<'dep'>;
  chain: ChainName;
  transaction: string;
  logIndex: number;
  sender: string;
  microUsdt: bigint;
  state: DepositState;
  seenAt: Date;
  creditedAt: Date | null;
  creditReference: string | null;
}

/** Those of `Deposit`. */
const columns = `d.id AS "depositId", d.chain, d.transaction, d.log_index AS "logIndex", d.sender, d.micro_usdt AS "microUsdt", d.state,
  d.seen_at AS "seenAt", d.credited_at AS "creditedAt", d.credit_reference AS "creditReference"`;

/** Lists the deposits of one partner, newest first. Undefined if the partner has no deposit `startingAfter`. */
export async function listDeposits(
  db: Queryable,
  partnerId: Id<'prt'>,
  { limit, startingAfter }: { limit: number; startingAfter?: Id<'dep'> | undefined },
): Promise<{ deposits: Deposit[]; hasMore: boolean } | undefined> {
  const after = startingAfter ? uuidFromId(startingAfter) : null;
  const rows = await readRows<Stored<Deposit>>(db, {
    text: `SELECT ${columns} FROM deposits d WHERE d.partner_id = $1 AND ($2::uuid IS NULL OR d.id <= $2)
            ORDER BY d.id DESC LIMIT $3`,
    values: [uuidFromId(partnerId), after, limit + (after === null ? 1 : 2)],
  });
  // The page begins with the deposit that it starts after, which shows that there is one.
  if (after !== null && rows.shift()?.depositId !== after) return undefined;
  return {
    deposits: rows.slice(0, limit).map(withIds<Deposit>({ depositId: 'dep' })),
    hasMore: rows.length > limit,
  };
}

/** A deposit of any partner, with what operators need. */
export interface SomeDeposit extends Deposit {
  partnerId: Id<'prt'>;
  partner: string;
  heldFor: HeldFor | null;
  decisionReason: string | null;
}

interface DepositSearch {
  state?: DepositState | undefined;
  partnerId?: Id<'prt'> | undefined;
  depositId?: Id<'dep'> | undefined;
  /** On any chain, as it is stored. */
  transaction?: string | undefined;
}

/** Lists the deposits of all partners, or of one, newest first. */
export async function searchDeposits(
  db: Queryable,
  { state, partnerId, depositId, transaction }: DepositSearch,
  { limit, after }: { limit: number; after?: Id<'dep'> | undefined },
): Promise<{ deposits: SomeDeposit[]; hasMore: boolean }> {
  const rows = await readRows(db, {
    text: `SELECT ${columns}, d.partner_id AS "partnerId", p.name AS partner, d.held_for AS "heldFor", d.decision_reason AS "decisionReason"
             FROM deposits d JOIN partners p ON p.id = d.partner_id
            WHERE ($1::uuid IS NULL OR d.id < $1) AND ($2::text IS NULL OR d.state = $2)
              AND ($3::uuid IS NULL OR d.partner_id = $3) AND ($4::uuid IS NULL OR d.id = $4)
              AND ($5::text IS NULL OR d.transaction = $5)
            ORDER BY d.id DESC LIMIT $6`,
    values: [
      after ? uuidFromId(after) : null,
      state ?? null,
      partnerId ? uuidFromId(partnerId) : null,
      depositId ? uuidFromId(depositId) : null,
      transaction ?? null,
      limit + 1,
    ],
  });
  const toDeposit = withIds<SomeDeposit>({ depositId: 'dep', partnerId: 'prt' });
  return { deposits: rows.slice(0, limit).map(toDeposit), hasMore: rows.length > limit };
}

/** How many wait for an operator. */
export const countHeld = (db: Queryable) =>
  readValue<number>(db, {
    text: `SELECT count(*)::int AS count FROM deposits WHERE state = 'held'`,
  });

type Depositor = Pick<SomeDeposit, 'partnerId' | 'partner'>;

/** Whose deposit it is. */
export async function findDepositor(db: Queryable, depositId: Id<'dep'>): Promise<Depositor | undefined> {
  const row = await findRow(db, {
    text: 'SELECT p.id AS "partnerId", p.name AS partner FROM deposits d JOIN partners p ON p.id = d.partner_id WHERE d.id = $1',
    values: [uuidFromId(depositId)],
  });
  return row && withIds<Depositor>({ partnerId: 'prt' })(row);
}

export interface ChainProgress {
  chain: string;
  cursorBlock: bigint;
  cursorTime: Date;
  finalBlock: bigint;
  checkedAt: Date;
}

export const listChainProgress = (db: Queryable) =>
  readRows<ChainProgress>(db, {
    text: `SELECT chain, cursor_block AS "cursorBlock", cursor_time AS "cursorTime", final_block AS "finalBlock",
                  checked_at AS "checkedAt" FROM deposit_chains ORDER BY chain`,
  });

export const depositGauges: DatabaseGauge[] = [
  {
    name: 'kopeck_deposit_lag_seconds',
    help: 'Age of the last block whose deposits are booked',
    labels: ['chain'],
    sql: 'SELECT ARRAY[chain], extract(epoch FROM $1::timestamptz - cursor_time) FROM deposit_chains',
  },
  {
    name: 'kopeck_deposit_blocks_behind',
    help: 'Final blocks that are not booked yet',
    labels: ['chain'],
    sql: 'SELECT ARRAY[chain], final_block - cursor_block FROM deposit_chains',
  },
  {
    name: 'kopeck_deposits_held',
    help: 'Deposits on which an operator has to decide',
    labels: ['chain'],
    sql: `SELECT ARRAY[c.chain], (SELECT count(*) FROM deposits d WHERE d.chain = c.chain AND d.state = 'held')
            FROM deposit_chains c`,
  },
];
