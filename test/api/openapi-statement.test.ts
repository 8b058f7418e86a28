import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { csvLine } from '../../src/base/csv.ts';
import { formatMicroUsdt, parseMicroUsdt } from '../../src/base/money.ts';
import { type Json, readDocument } from './openapi-world.ts';

const { answer, withStatus } = await readDocument();

describe('the statement in the examples', () => {
  const statement = answer('/v1/statement');
  type Balances = Record<`${'topup' | 'treasury' | 'available' | 'held' | 'settled'}_usdt`, string>;
  const micro = (text: string) => parseMicroUsdt(text.replace('-', ''))! * (text.startsWith('-') ? -1n : 1n);
  const move = (balances: Balances, { from, to, amount_usdt }: Json): Balances => {
    const add = (name: string, sign: bigint) =>
      formatMicroUsdt(micro(balances[`${name}_usdt` as keyof Balances]) + sign * micro(amount_usdt));
    return { ...balances, [`${from}_usdt`]: add(from, -1n), [`${to}_usdt`]: add(to, 1n) };
  };

  test('adds up from its opening to its closing, which is the balance', () => {
    let balances: Balances = statement.opening;
    for (const entry of statement.entries) {
      balances = move(balances, entry);
      expect(entry.after, entry.entry_no).toEqual(balances);
    }
    expect(statement.closing).toEqual(balances);
    expect(Object.values(balances).reduce((sum, one) => sum + micro(one), 0n)).toBe(0n);
    expect(balances.available_usdt).toBe(answer('/v1/balance').balance_usdt);
    expect(statement).toMatchObject({ partner_id: answer('/v1/ping').partner_id, mode: 'test' });
  });

  test('has a hold for each payment when it was created, and its end when it was final', () => {
    const at = (instant: string) => new Date(instant).toISOString();
    const ends: Record<string, string> = { succeeded: 'settle', failed: 'release' };
    const expected = answer('/v1/payments')
      .data.toReversed()
      .flatMap(({ id: payment_id, amount_usdt, status, created_at, settled_at }: Json) => [
        { payment_id, amount_usdt, kind: 'hold', at: at(created_at) },
        ...(settled_at ? [{ payment_id, amount_usdt, kind: ends[status], at: at(settled_at) }] : []),
      ]);
    type Entry = Record<'payment_id' | 'amount_usdt' | 'kind' | 'at', string>;
    const pick = ({ payment_id, amount_usdt, kind, at }: Entry) => ({ payment_id, amount_usdt, kind, at });
    expect(statement.entries.map(pick)).toEqual(expected);
    const { payment_id, amount_usdt, at: heldAt } = expected.at(-1);
    const { entry_no } = statement.entries.at(-1);
    expect(statement.open_holds).toEqual([{ entry_no, at: heldAt, amount_usdt, payment_id }]);
    expect(withStatus('processing').id).toBe(payment_id);
  });

  test('is the same as CSV, with its digest', () => {
    const none = (cells: number) => Array<null>(cells).fill(null);
    const inUsdt = (balances: Balances) => Object.values(balances);
    const { partner_id, mode, day, opening, entries, closing, open_holds, digest } = statement;
    const lines = [
      ['statement', null, day, 'open', partner_id, mode, ...none(8)],
      ['opening', ...none(6), ...inUsdt(opening), ...none(2)],
      ...entries.map((one: Json) => [
        ...['entry', one.entry_no, one.at, one.kind, one.from, one.to, one.amount_usdt],
        ...[...inUsdt(one.after), one.payment_id, one.reference],
      ]),
      ['closing', ...none(6), ...inUsdt(closing), ...none(2)],
      ...open_holds.map((one: Json) => [
        ...['open_hold', one.entry_no, one.at, ...none(3), one.amount_usdt, ...none(5), one.payment_id, null],
      ]),
    ];
    const csv: string = answer('/v1/statement', 'get', 'text/csv');
    const [header, ...rest] = csv.split(/(?<=\n)/);
    expect(header).toMatch(/^record,number,at,/);
    expect(rest.slice(0, -1)).toEqual(lines.map(csvLine));
    expect(rest.at(-1)).toBe(csvLine(['digest', ...none(12), digest]));
    const hash = createHash('sha256')
      .update(csv.slice(0, -rest.at(-1)!.length))
      .digest('hex');
    expect(digest).toBe(`sha256:${hash}`);
  });
});
