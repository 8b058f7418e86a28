import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import {
  createBatcher,
  findLockedRows,
  type LockWait,
  lockTimeoutLanes,
  lockTimeoutOf,
  setsLockTimeout,
  sharedRead,
  whileOthersJoin,
} from '../db/batching/index.ts';
import { isItemError, type Queryable, retryOnDeadlock } from '../db/postgres/index.ts';
import { pruneOlder } from '../db/retention/index.ts';
import type { AccountKey } from '../ledger/index.ts';
import { type NewPayment, openingArray, openingColumnCount, openingValues } from './openings.ts';
import { createOperationNumbers } from './operation-numbers.ts';
import { type Payment, type PaymentRow, paymentColumns, toPayment } from './payment.ts';
import { observeBatches, type PhaseDeps } from './phases.ts';
import type { FinishResult, OpenResult, PaymentOutcome, PaymentToFinish } from './results.ts';

/** Opens payments in one statement: each has its verdict, and those that go ahead have their money held. */
export async function openAll(
  db: Queryable,
  clock: Clock,
  payments: NewPayment[],
  lockWait: LockWait,
  { testPaymentsPerDay = null }: { testPaymentsPerDay?: number | null },
): Promise<OpenResult[]> {
  const at = instantOf(clock);
  const { rows } = await db.query<{
    verdict: OpenResult['verdict'];
    payment_id: string | null;
    balance: bigint;
  }>({
    name: 'payments_open',
    text: openStatement,
    values: [at, ...openingValues(payments), lockTimeoutOf(lockWait), testPaymentsPerDay],
  });
  return rows.map(row => ({
    verdict: row.verdict,
    paymentId: row.payment_id === null ? undefined : idFromUuid('pay', row.payment_id),
    balanceMicroUsdt: row.balance,
    at,
  }));
}

const openStatement = `
  SELECT verdict, payment_id, balance
    FROM ${setsLockTimeout(`$${openingColumnCount + 2}`, '$1::timestamptz')},
         payments_open(${openingArray(2)}, call.argument, $${openingColumnCount + 3})
   ORDER BY item`;

/**
 * Finishes payments in one statement: the status, the ledger entries and the outbox row of the webhook event commit
 * together. On a transaction's client it is part of that transaction.
 */
export async function finishAll(
  db: Queryable,
  clock: Clock,
  payments: PaymentToFinish[],
  lockWait: LockWait = 'long',
): Promise<FinishResult[]> {
  const at = instantOf(clock);
  const { rows } = await db.query<{ changed: boolean; status: Payment['status'] }>({
    name: 'payments_finish',
    text: `SELECT changed, status
             FROM ${setsLockTimeout('$8', '$7::timestamptz')}, payments_finish($1, $2, $3, $4, $5, $6, call.argument)
            ORDER BY item`,
    values: [
      payments.map(payment => uuidFromId(payment.partnerId)),
      payments.map(payment => payment.mode),
      payments.map(payment => uuidFromId(payment.paymentId)),
      payments.map(payment => payment.outcome),
      payments.map(payment => ('code' in payment ? payment.code : null)),
      payments.map(payment => ('orderId' in payment ? payment.orderId : null)),
      at,
      lockTimeoutOf(lockWait),
    ],
  });
  return rows.map(({ changed, status }) => ({ changed, status, at }));
}

/** How many locked accounts may each hold a connection while they wait, to open and again to finish: four of ten. */
const maxLockedRuns = 2;
/** So many payments may wait for a locked account; the places of admission control that remain are for the other partners. */
const maxOpeningsApart = 200;
const maxWaiting = 5_000;

/** Limits test mode per partner; undefined: no limit. */
type Quota = { testPaymentsPerDay?: number };

export type PaymentWriter = ReturnType<typeof createPaymentWriter>;

/** The two writes that move money, and the number that SBP gives a payment. Calls that arrive together share one statement and one commit. */
export function createPaymentWriter(
  db: Queryable,
  clock: Clock,
  quota: Quota = {},
  observers: PhaseDeps = {},
) {
  const observing = { ...observers, clock };
  const openBatch = (payments: NewPayment[], lockWait: LockWait) =>
    retryOnDeadlock(() => openAll(db, clock, payments, lockWait, quota));
  const finishBatch = (payments: PaymentToFinish[], lockWait: LockWait) =>
    retryOnDeadlock(() => finishAll(db, clock, payments, lockWait));
  const common = {
    isItemError,
    maxBatch: 256,
    maxWaiting,
    gather: whileOthersJoin,
  };
  const ownLanes = () => ({
    keyOf: ({ partnerId, mode }: AccountKey) => `${partnerId} ${mode}`,
    ...lockTimeoutLanes(clock, maxLockedRuns),
  });
  const open = createBatcher<NewPayment, OpenResult>({
    ...common,
    run: openBatch,
    observer: observeBatches(observing, 'open', outcomeOfOpening),
    ownLanes: {
      ...ownLanes(),
      findLocked: payments => findLockedOpenings(db, payments),
      maxWaitingApart: maxOpeningsApart,
    },
  });
  const finish = createBatcher<PaymentToFinish, FinishResult>({
    ...common,
    run: finishBatch,
    observer: observeBatches(observing, 'finish', outcomeOfFinish),
    ownLanes: {
      ...ownLanes(),
      findLocked: payments => findLockedAccounts(db, payments),
      maxWaitingApart: maxWaiting,
    },
  });
  return { open, finish, keepOperationNumber: createOperationNumbers(db) };
}

/** Test payments end when they are opened. */
const outcomeOfOpening = ({ mode, ending }: NewPayment, { verdict }: OpenResult) =>
  ending && verdict === 'opened' ? { mode, outcome: ending.outcome, code: codeOf(ending) } : undefined;

/** A payment that was undone is a refused request, and counted there. */
const outcomeOfFinish = (payment: PaymentToFinish, { changed }: FinishResult) =>
  changed && payment.outcome !== 'rejected'
    ? { mode: payment.mode, outcome: payment.outcome, code: codeOf(payment) }
    : undefined;

const codeOf = (ending: PaymentOutcome) => ('code' in ending ? ending.code : '');

const findLockedAccounts = <Item extends AccountKey>(db: Queryable, items: Item[]) =>
  findLockedRows(db, items, 'accounts', [
    ['partner_id', 'uuid', ({ partnerId }) => uuidFromId(partnerId)],
    ['mode', 'mode', ({ mode }) => mode],
  ]);

/** As `code_scope` in the database gives it. */
const liveScope = '00000000-0000-0000-0000-000000000000';

/** A code is locked by an operator's decision on its payment that is not committed yet. */
const findLockedOpenings = async (db: Queryable, payments: NewPayment[]) => [
  ...(await findLockedAccounts(db, payments)),
  ...(await findLockedRows(db, payments, 'open_payments', [
    ['scope', 'uuid', ({ mode, partnerId }) => (mode === 'live' ? liveScope : uuidFromId(partnerId))],
    ['qrc_id', 'text', ({ qrcId }) => qrcId],
  ])),
];

type PaymentKey = AccountKey & { paymentId: Id<'pay'> };

const livePayment =
  '(SELECT * FROM payments WHERE partner_id = k.partner_id AND mode = k.mode AND id = k.id LIMIT 1)';

/** `payment_anywhere` also looks into the archive, for those whose month may have them. */
async function findIn(
  db: Queryable,
  place: 'payments' | 'payment_anywhere',
  items: PaymentKey[],
): Promise<(Payment | undefined)[]> {
  const { rows } = await db.query<PaymentRow & { item: number }>({
    name: `find ${place}`,
    text: `SELECT ${paymentColumns('p')}, k.item::int FROM unnest($1::uuid[], $2::mode[], $3::uuid[])
                  WITH ORDINALITY AS k (partner_id, mode, id, item),
                  LATERAL (SELECT * FROM ${place === 'payments' ? livePayment : 'payment_anywhere(k.partner_id, k.mode, k.id)'} p) AS p`,
    values: [...accountsOf(items), items.map(({ paymentId }) => uuidFromId(paymentId))],
  });
  const found = new Array<Payment | undefined>(items.length).fill(undefined);
  for (const { item, ...row } of rows) found[item - 1] = toPayment(row);
  return found;
}

/** Payments move only from the live table to the archive: in this order none is missed. */
const findById = sharedRead(async (db, items: PaymentKey[]) => {
  const found = await findIn(db, 'payments', items);
  return fillFromArchive(
    db,
    found,
    items.map((item, index) => (found[index] ? undefined : item)),
  );
});

/** A statement of its own: with 36 months in the archive it takes ten times as long as one of the live table. */
async function fillFromArchive(
  db: Queryable,
  found: (Payment | undefined)[],
  wanted: (PaymentKey | undefined)[],
): Promise<(Payment | undefined)[]> {
  const missing = wanted.flatMap((key, index) => (key ? [{ key, index }] : []));
  if (missing.length === 0) return found;
  const archived = await findIn(
    db,
    'payment_anywhere',
    missing.map(({ key }) => key),
  );
  const all = [...found];
  for (const [nth, { index }] of missing.entries()) all[index] = archived[nth];
  return all;
}

export const findPayment = (db: Queryable, { partnerId, mode }: AccountKey, paymentId: Id<'pay'>) =>
  findById(db, { partnerId, mode, paymentId });

/** A payment of the partner, in whichever mode. Rejected attempts are not payments. */
export async function findPaymentOf(
  db: Queryable,
  partnerId: Id<'prt'>,
  paymentId: Id<'pay'>,
): Promise<Payment | undefined> {
  const found = await Promise.all(
    (['live', 'test'] as const).map(mode => findPayment(db, { partnerId, mode }, paymentId)),
  );
  return found.find(payment => payment && payment.status !== 'rejected');
}

const findByKey = sharedRead(async (db, items: (AccountKey & { key: string })[]) => {
  const { rows } = await db.query<PaymentRow & { item: number; known_id: string }>({
    name: 'find payments by key',
    text: `SELECT ${paymentColumns('p')}, k.item::int, f.payment_id AS known_id
             FROM unnest($1::uuid[], $2::mode[], $3::text[]) WITH ORDINALITY AS k (partner_id, mode, key, item),
                  LATERAL payment_of_key(k.partner_id, k.mode, k.key) AS f
             LEFT JOIN LATERAL (SELECT * FROM payments p
                                 WHERE p.partner_id = k.partner_id AND p.mode = k.mode AND p.id = f.payment_id LIMIT 1) AS p ON true
            WHERE f.payment_id IS NOT NULL`,
    values: [...accountsOf(items), items.map(({ key }) => key)],
  });
  const live = new Array<Payment | undefined>(items.length).fill(undefined);
  const archived = new Array<PaymentKey | undefined>(items.length).fill(undefined);
  for (const { item, known_id, ...row } of rows)
    if (row.paymentId === null)
      archived[item - 1] = { ...items[item - 1]!, paymentId: idFromUuid('pay', known_id) };
    else live[item - 1] = toPayment(row);
  return fillFromArchive(db, live, archived);
});

export const findPaymentByKey = (db: Queryable, { partnerId, mode }: AccountKey, key: string) =>
  findByKey(db, { partnerId, mode, key });

const accountsOf = (items: AccountKey[]) => [
  items.map(({ partnerId }) => uuidFromId(partnerId)),
  items.map(({ mode }) => mode),
];

const keptDays = 3;

/** What keys with a daily limit spent on past days, which no opening looks at. */
export async function pruneKeyTurnovers(db: Queryable, clock: Clock): Promise<number> {
  const turnovers = await pruneOlder(db, clock, { table: 'key_turnovers', since: 'day', keptDays });
  return turnovers + (await pruneOlder(db, clock, { table: 'key_unsettled', since: 'day', keptDays }));
}
