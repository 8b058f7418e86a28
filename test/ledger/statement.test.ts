import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvLine } from '../../src/base/csv.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { parseMicroUsdt } from '../../src/base/money.ts';
import { accountNames, credit, openStatement, verifyLedger, writeStatement } from '../../src/ledger/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { endOfTime, manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase, newPaymentId } from '../helpers/database.ts';
import { hold, release, settle } from '../helpers/ledger.ts';
import { explaining } from '../helpers/plans.ts';

const { pool } = await createDatabase();
const dayMs = 86_400_000;
const live = 'live' as const;
const firstDay = '2025-01-10';

type Move = { wait: number } & (
  | { kind: 'credit'; amount: bigint }
  | { kind: 'hold'; amount: bigint }
  | { kind: 'settle' | 'release'; which: number }
);

const amount = fc.bigInt({ min: 1n, max: 5_000_000n });
/** Hours; some clocks go back. */
const wait = fc.integer({ min: -3, max: 20 });
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ wait, kind: fc.constant('credit' as const), amount }),
  fc.record({ wait, kind: fc.constant('hold' as const), amount }),
  fc.record({ wait, kind: fc.constantFrom('settle' as const, 'release' as const), which: fc.nat(50) }),
);

type Clock = ReturnType<typeof manualClock>;

async function play(clock: Clock, moves: Move[]): Promise<Id<'prt'>> {
  const { partnerId } = await createPartner(auditContextOf(pool, clock), 'History');
  const item = { partnerId, mode: live };
  const payments: Id<'pay'>[] = [];
  for (const [index, step] of moves.entries()) {
    clock.advance(step.wait * 3_600_000);
    if (step.kind === 'credit') {
      await credit(pool, clock, [{ ...item, reference: `=credit, "${index}"`, microUsdt: step.amount }]);
    } else if (step.kind === 'hold') {
      payments.push(newPaymentId());
      await hold(pool, clock, [{ ...item, paymentId: payments.at(-1)!, microUsdt: step.amount }]);
    } else {
      const paymentId = payments[step.which % Math.max(1, payments.length)];
      if (paymentId) await (step.kind === 'settle' ? settle : release)(pool, clock, [{ ...item, paymentId }]);
    }
  }
  return partnerId;
}

async function textOf(clock: Clock, partnerId: Id<'prt'>, day: Date, form: 'csv' | 'json'): Promise<string> {
  const statement = await openStatement(pool, clock, { partnerId, mode: live }, day);
  if (typeof statement !== 'object') throw new Error('there is no statement');
  let text = '';
  for await (const piece of writeStatement(pool, statement, form)) text += piece;
  return text;
}

interface Balances {
  [account: string]: string;
}
interface Json {
  closed: boolean;
  opening: Balances;
  closing: Balances;
  entries: { entry_no: string; from: string; to: string; amount_usdt: string; after: Balances; at: string }[];
  open_holds: { amount_usdt: string; payment_id: string }[];
  digest: string;
}

const read = async (clock: Clock, partnerId: Id<'prt'>, day: Date): Promise<Json> =>
  JSON.parse(await textOf(clock, partnerId, day, 'json'));

const signed = (text: string) =>
  text.startsWith('-') ? -parseMicroUsdt(text.slice(1))! : parseMicroUsdt(text)!;

function addUp({ opening, entries }: Json): Balances {
  const books = new Map(Object.entries(opening).map(([name, text]) => [name, signed(text)]));
  for (const { from, to, amount_usdt } of entries) {
    books.set(`${from}_usdt`, books.get(`${from}_usdt`)! - signed(amount_usdt));
    books.set(`${to}_usdt`, books.get(`${to}_usdt`)! + signed(amount_usdt));
  }
  return Object.fromEntries([...books].map(([name, value]) => [name, `${value}`]));
}

const inMicro = (balances: Balances) =>
  Object.fromEntries(Object.entries(balances).map(([name, text]) => [name, `${signed(text)}`]));

const digestOf = (csv: string) => {
  const lines = csv.split('\n').slice(0, -2);
  return `sha256:${createHash('sha256')
    .update(`${lines.join('\n')}\n`)
    .digest('hex')}`;
};

describe('a statement', () => {
  test('adds up, chains from day to day, and never changes once its day is over', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 25 }), async moves => {
        const clock = manualClock(`${firstDay}T10:00:00Z`);
        const partnerId = await play(clock, moves);
        const { rows } = await pool.query(
          `SELECT coalesce(max(created_at), $2) AS last, count(*)::int AS count FROM entries
            WHERE partner_id = $1 AND mode = 'live'`,
          [uuidFromId(partnerId), new Date(clock.nowMs())],
        );
        const end = manualClock(new Date(rows[0].last.getTime() + dayMs).toISOString());
        let before: Json | undefined;
        let entries = 0;
        for (let at = Date.parse(firstDay) - dayMs; at + dayMs <= end.nowMs(); at += dayMs) {
          const day = new Date(at);
          const json = await read(end, partnerId, day);
          const csv = await textOf(end, partnerId, day, 'csv');
          expect(json.closed).toBe(true);
          expect(inMicro(json.closing)).toEqual(addUp(json));
          if (before) expect(json.opening).toEqual(before.closing);
          if (json.entries.length > 0) expect(json.entries.at(-1)!.after).toEqual(json.closing);
          expect(json.entries.every(entry => entry.at.startsWith(day.toISOString().slice(0, 10)))).toBe(true);
          const open = json.open_holds.reduce((sum, one) => sum + signed(one.amount_usdt), 0n);
          expect(open).toBe(signed(json.closing.held_usdt!));
          expect(json.digest).toBe(digestOf(csv));
          expect(csv.trimEnd().split(',').at(-1)).toBe(json.digest);
          before = json;
          entries += json.entries.length;
        }
        expect(entries).toBe(rows[0].count);

        // Later entries, with any time, change none of them.
        const days = [-1, 0, 1, 2]
          .map(number => new Date(Date.parse(firstDay) + number * dayMs))
          .filter(day => day.getTime() + dayMs <= end.nowMs());
        const then = await Promise.all(days.map(day => textOf(end, partnerId, day, 'csv')));
        const late = manualClock(`${firstDay}T11:00:00Z`);
        await credit(pool, late, [{ partnerId, mode: live, reference: 'late', microUsdt: 1n }]);
        expect(await Promise.all(days.map(day => textOf(end, partnerId, day, 'csv')))).toEqual(then);
      }),
      { numRuns: 15 },
    );
    expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
  });

  test('of today is open, grows, and differs when its day is over', async () => {
    const clock = manualClock(`${firstDay}T10:00:00Z`);
    const partnerId = await play(clock, [{ wait: 0, kind: 'credit', amount: 5n }]);
    const today = new Date(firstDay);
    expect(await textOf(clock, partnerId, today, 'csv')).toContain(`"'=credit, ""0"""`);
    expect(await read(clock, partnerId, today)).toMatchObject({
      closed: false,
      entries: [{ entry_no: '1' }],
    });
    await hold(pool, clock, [{ partnerId, mode: live, paymentId: newPaymentId(), microUsdt: 2n }]);
    expect((await read(clock, partnerId, today)).entries).toHaveLength(2);
    clock.advance(dayMs);
    expect(await read(clock, partnerId, today)).toMatchObject({
      closed: true,
      closing: { available_usdt: '0.000003', held_usdt: '0.000002' },
      open_holds: [{ amount_usdt: '0.000002' }],
    });
    const tomorrow = new Date(clock.nowMs() + dayMs);
    expect(await openStatement(pool, clock, { partnerId, mode: live }, tomorrow)).toBeUndefined();
  });

  test('of a day that is only over by a clock that runs ahead closes nothing: entries keep their times', async () => {
    const clock = manualClock(`${firstDay}T10:00:00Z`);
    const partnerId = await play(clock, [{ wait: 0, kind: 'credit', amount: 5n }]);
    const ahead = manualClock(new Date(Date.now() + 400 * dayMs).toISOString());
    const notYet = new Date(Date.now() + 300 * dayMs);
    expect(await read(ahead, partnerId, notYet)).toMatchObject({ closed: false, entries: [] });
    await hold(pool, clock, [{ partnerId, mode: live, paymentId: newPaymentId(), microUsdt: 2n }]);
    expect((await read(clock, partnerId, new Date(firstDay))).entries).toHaveLength(2);
  });

  test('is refused for entries that do not add up', async () => {
    const clock = manualClock(`${firstDay}T10:00:00Z`);
    const partnerId = await play(clock, [
      { wait: 0, kind: 'credit', amount: 5n },
      { wait: 1, kind: 'credit', amount: 5n },
    ]);
    await pool.query('ALTER TABLE entries DISABLE TRIGGER USER');
    await pool.query(
      `UPDATE entries SET micro_usdt = 6 WHERE partner_id = $1 AND mode = 'live' AND entry_no = 1`,
      [uuidFromId(partnerId)],
    );
    await expect(textOf(clock, partnerId, new Date(firstDay), 'csv')).rejects.toThrow(
      'are not the closing of topup',
    );
  });
});

test('a day in fifty thousand entries is found by a binary search', async () => {
  const clock = manualClock(`${firstDay}T00:00:00Z`);
  const { partnerId } = await createPartner(auditContextOf(pool, clock), 'Busy');
  // In parts, so that none of them reaches the limit of a statement on a busy machine.
  for (let first = 1; first < 50_000; first += 10_000)
    await pool.query(
      `INSERT INTO entries (partner_id, mode, entry_no, from_account, to_account, micro_usdt, from_after, to_after,
                            reference, created_at)
         SELECT $1, 'live', n, 'topup', 'available', 1, -n, n, 'r' || n, $2::timestamptz + n * interval '20 s'
           FROM generate_series($3::int, $3 + 9999) AS n`,
      [uuidFromId(partnerId), new Date(firstDay), first],
    );
  await pool.query(
    `UPDATE accounts SET entry_count = 50000, topup = -50000, available = 50000, last_entry_at = now()
      WHERE partner_id = $1 AND mode = 'live'`,
    [uuidFromId(partnerId)],
  );
  clock.advance(20 * dayMs);
  const day = new Date('2025-01-15');
  const { db, blocks } = explaining(pool);
  const values = [uuidFromId(partnerId), live, day];
  // A session that runs it for the first time also reads what it needs to plan it.
  for (let run = 0; run < 3; run++)
    await db.query({ text: 'SELECT ledger_entries_before($1, $2, $3)', values });
  // Reading all entries before that day takes about four hundred and fifty.
  expect(Math.min(...blocks())).toBeLessThan(200);
  const statement = await openStatement(pool, clock, { partnerId, mode: live }, day);
  if (typeof statement !== 'object') throw new Error('there is no statement');
  expect(statement).toMatchObject({ entriesAbove: 21_599n, entriesUpTo: 25_919n });
  expect(statement.opening).toEqual({
    ...Object.fromEntries(accountNames.map(name => [name, 0n])),
    topup: -21_599n,
    available: 21_599n,
  });
});

test('a line of CSV keeps what a spreadsheet would calculate as text', () => {
  expect(csvLine(['=1+1', '-5.5', '@x', '+7', 'a"b', 'c,d', null, 7n])).toBe(
    `'=1+1,-5.5,'@x,'+7,"a""b","c,d",,7\n`,
  );
});
