import { beforeAll, expect, test } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { readCases } from '../helpers/cases.ts';
import { createDatabase, createFundedPartner, newPaymentId } from '../helpers/database.ts';
import { hold, settle } from '../helpers/ledger.ts';
import { findingsAfter } from '../helpers/rolled-back.ts';

const { pool } = await createDatabase();
let partnerId: Id<'prt'>;

beforeAll(async () => {
  partnerId = await createFundedPartner(pool, 100n);
  const [settled, open] = [newPaymentId(), newPaymentId()];
  const item = { partnerId, mode: 'live' as const };
  await hold(pool, clock, [
    { ...item, paymentId: settled, microUsdt: 10n },
    { ...item, paymentId: open, microUsdt: 20n },
  ]);
  await settle(pool, clock, [{ ...item, paymentId: settled }]);
  // With the guards in place none of the tampering below would be possible.
  await pool.query(`
    ALTER TABLE entries DISABLE TRIGGER USER;
    ALTER TABLE entries DROP CONSTRAINT entries_are_of_a_known_kind;
    ALTER TABLE accounts DROP CONSTRAINT accounts_never_below_zero, DROP CONSTRAINT accounts_sum_to_zero;
    DROP INDEX entries_once_per_payment`);
});

test('finds nothing in a correct ledger', async () => {
  const { findings, entries, invariants } = await verifyLedger(pool);
  expect({ findings, entries, invariants: invariants.length }).toEqual({
    findings: [],
    entries: 5n,
    invariants: 20,
  });
});

const tamperings = readCases(`
a balance was changed by hand
  + UPDATE accounts SET available = available + 1 WHERE mode = 'live'
  = entries add up to the balances
  = all accounts sum to zero
money was moved without an entry
  + UPDATE accounts SET available = available - 1, settled = settled + 1 WHERE mode = 'live'
  = entries add up to the balances
a balance is below zero
  + UPDATE accounts SET settled = settled + available + 1, available = -1 WHERE mode = 'live'
  = entries add up to the balances
  = no balance is below zero
an entry was deleted
  + DELETE FROM entries WHERE entry_no = 2
  = entries add up to the balances
  = entries are numbered without gaps
  = each entry carries the balance after it
  = one hold per payment, and at most one settle or release of the same amount
the last entry was deleted
  + DELETE FROM entries WHERE entry_no = 4
  = entries add up to the balances
  = entries are numbered without gaps
  = what is held is the sum of the open holds
an amount was changed
  + UPDATE entries SET micro_usdt = 21 WHERE entry_no = 3
  = entries add up to the balances
  = each entry carries the balance after it
  = what is held is the sum of the open holds
a balance after an entry was changed
  + UPDATE entries SET to_after = to_after + 1 WHERE entry_no = 3
  = each entry carries the balance after it
an entry was dated back
  + UPDATE entries SET created_at = created_at - interval '1 hour' WHERE mode = 'live' AND entry_no = 3
  = times never go back
an entry was booked 40 days ahead
  + WITH last AS (UPDATE entries SET created_at = created_at + interval '40 days' WHERE mode = 'live' AND entry_no = 4)
  + UPDATE accounts SET last_entry_at = last_entry_at + interval '40 days' WHERE mode = 'live'
  = no time is in the future
the time of the next entry is ahead
  + UPDATE accounts SET last_entry_at = clock_timestamp() + interval '1 minute' WHERE mode = 'live'
  = no time is in the future
a payment was settled twice
  + INSERT INTO entries SELECT partner_id, mode, 5, from_account, to_account, micro_usdt, 10, 20, payment_id, NULL, now() FROM entries WHERE entry_no = 4
  = entries add up to the balances
  = entries are numbered without gaps
  = one hold per payment, and at most one settle or release of the same amount
the turnover of a day was changed
  + UPDATE accounts SET turnover_day = '2026-11-15', turnover_kopecks = 1 WHERE mode = 'live'
  = the turnover of the day is the sum of its payments
an account was deleted
  + DELETE FROM accounts WHERE mode = 'live'
  = entries add up to the balances
  = entries are numbered without gaps`);

test.each(tamperings)('names the broken invariants when %s', async (_what, tampering, _undo, expected) => {
  const findings = await findingsAfter(pool, [tampering]);
  expect([...new Set(findings.map(({ invariant }) => invariant))]).toEqual(expected);
  expect(findings.every(finding => finding.partnerId === partnerId && finding.mode === 'live')).toBe(true);
});
