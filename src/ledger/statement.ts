import { createHash } from 'node:crypto';
import { type Clock, dayMs } from '../base/clock.ts';
import { csvLine } from '../base/csv.ts';
import { uuidFromId } from '../base/ids.ts';
import { formatMicroUsdt } from '../base/money.ts';
import type { Queryable } from '../db/postgres/index.ts';
import {
  type AccountName,
  accountNames,
  type Balances,
  type Entry,
  type OpenHold,
} from './accounts-and-entries.ts';
import { assertSame, type LedgerPeriod, openHoldsOf, openPeriod, readPeriod } from './period.ts';
import type { AccountKey } from './post.ts';

/**
 * The statement of a partner and mode for one UTC day: opening balances, every entry, closing balances, and the holds that
 * were open at the end. When the day is over it is closed, and every later statement of it has the same bytes.
 * The digest is SHA-256 over the CSV form without its last line, which has the digest. The JSON form has the same digest,
 * since it has the same facts.
 */
export type Statement = Exclude<Awaited<ReturnType<typeof openStatement>>, 'pruned' | undefined>;

/** Undefined for a day that has not begun. Of test mode, entries may have been pruned since: then all of the day are gone. */
export async function openStatement(db: Queryable, clock: Clock, account: AccountKey, day: Date) {
  const startMs = Math.floor(day.getTime() / dayMs) * dayMs;
  const span = { start: new Date(startMs), end: new Date(startMs + dayMs) };
  const period = await openPeriod(db, clock, account, span);
  if (period === undefined || period === 'pruned') return period;
  assertSame(await addEntries(db, period), period.closing);
  return {
    ...period,
    day: span.start.toISOString().slice(0, 10),
    openHolds: await openHoldsOf(db, period),
  };
}

/** Checked before the first line is sent, so that a statement which does not add up is refused as a whole. */
async function addEntries(
  db: Queryable,
  { partnerId, mode, opening, entriesAbove, entriesUpTo, start, end }: LedgerPeriod,
): Promise<Balances> {
  const balances = { ...opening };
  const { rows } = await db.query<{ from: AccountName; to: AccountName; sum: string }>({
    text: `SELECT from_account AS "from", to_account AS "to", sum(micro_usdt)::text AS sum
             FROM entries_between($1, $2, $3, $4, false, NULL, $5, $6) GROUP BY 1, 2`,
    values: [uuidFromId(partnerId), mode, entriesAbove, entriesUpTo, start, end],
  });
  for (const { from, to, sum } of rows) {
    balances[from] -= BigInt(sum);
    balances[to] += BigInt(sum);
  }
  return balances;
}

const header = csvLine([
  'record',
  'number',
  'at',
  'kind',
  'from',
  'to',
  'amount_usdt',
  ...accountNames.map(name => `${name}_usdt`),
  'payment_id',
  'reference',
]);

const emptyCells = (cells: number) => Array<null>(cells).fill(null);

const titleLine = ({ partnerId, mode, day, closed }: Statement) =>
  csvLine(['statement', null, day, closed ? 'closed' : 'open', partnerId, mode, ...emptyCells(8)]);
const balancesLine = (record: 'opening' | 'closing', balances: Balances) =>
  csvLine([record, ...emptyCells(6), ...Object.values(balancesObject(balances)), ...emptyCells(2)]);
const entryLine = ({ after, payment_id, reference, ...entry }: ReturnType<typeof entryObject>) =>
  csvLine(['entry', ...Object.values(entry), ...Object.values(after), payment_id, reference]);
const openHoldLine = ({ entry_no, at, amount_usdt, payment_id }: ReturnType<typeof holdObject>) =>
  csvLine(['open_hold', entry_no, at, ...emptyCells(3), amount_usdt, ...emptyCells(5), payment_id, null]);

type Form = 'csv' | 'json';
type Part = { text: string; digest?: string };

/** The statement, part by part; the digest, which both forms take from the CSV form, comes last. */
async function* partsOf(db: Queryable, statement: Statement, form: Form): AsyncGenerator<Part> {
  const { partnerId, mode, day, closed, opening, closing, openHolds } = statement;
  const hash = createHash('sha256');
  const part = (csv: string, json: () => string): Part => {
    hash.update(csv);
    return { text: form === 'csv' ? csv : json() };
  };
  const title = { object: 'statement', partner_id: partnerId, mode, day, closed, currency: 'USDT' };
  yield part(
    header + titleLine(statement) + balancesLine('opening', opening),
    () => `${JSON.stringify({ ...title, opening: balancesObject(opening) }).slice(0, -1)},"entries":[`,
  );
  let comma = '\n';
  for await (const page of readPeriod(db, statement)) {
    let [csv, json] = ['', ''];
    for (const { entry, after } of page) {
      const shown = entryObject(entry, after);
      csv += entryLine(shown);
      if (form === 'json') json += comma + JSON.stringify(shown);
      comma = ',\n';
    }
    yield part(csv, () => json);
  }
  const end = { closing: balancesObject(closing), open_holds: openHolds.map(holdObject) };
  yield part(
    balancesLine('closing', closing) + end.open_holds.map(openHoldLine).join(''),
    () => `],${JSON.stringify(end).slice(1, -1)}`,
  );
  const digest = `sha256:${hash.digest('hex')}`;
  const csvEnd = csvLine(['digest', ...emptyCells(12), digest]);
  yield { text: form === 'csv' ? csvEnd : `,"digest":${JSON.stringify(digest)}}\n`, digest };
}

const balancesObject = (balances: Balances) =>
  Object.fromEntries(accountNames.map(name => [`${name}_usdt`, formatMicroUsdt(balances[name])]));

/** In the order of the columns: the CSV form has the same values. */
const entryObject = (entry: Entry, after: Balances) => ({
  entry_no: `${entry.entryNo}`,
  at: entry.at.toISOString(),
  kind: entry.kind,
  from: entry.from,
  to: entry.to,
  amount_usdt: formatMicroUsdt(entry.microUsdt),
  after: balancesObject(after),
  payment_id: entry.paymentId,
  reference: entry.reference,
});

const holdObject = ({ entryNo, at, microUsdt, paymentId }: OpenHold) => ({
  entry_no: `${entryNo}`,
  at: at.toISOString(),
  amount_usdt: formatMicroUsdt(microUsdt),
  payment_id: paymentId,
});

/** The text in one of the forms. A text without the digest at its end was cut off or does not add up. */
export async function* writeStatement(
  db: Queryable,
  statement: Statement,
  form: Form,
): AsyncGenerator<string> {
  for await (const { text } of partsOf(db, statement, form)) yield text;
}

/** For the `ETag`, which is sent before the first line; reads the entries once more. */
export async function digestOf(db: Queryable, statement: Statement): Promise<string> {
  let last: Part | undefined;
  for await (const part of partsOf(db, statement, 'csv')) last = part;
  return last!.digest!;
}
