import { expect, test } from 'vitest';
import { pageOfAlarm } from '../../src/alarms/index.ts';

test.each([
  ['payment_overdue', 'pay_1', '/payments/pay_1'],
  ['stray_order', 'pay_1', '/reconciliation'],
  ['webhook_suspended', 'prt_1', '/partners/prt_1/webhook'],
  ['other', 'prt_1', '/partners/prt_1'],
  ['deposit_held', 'dep_1', '/deposits?q=dep_1'],
  ['deposit_node_failing', 'tron', '/deposits'],
  ['rate_jump', 'rate', '/rates'],
  ['refund_not_booked', 'ref-7', '/payments/pay_01m7facwp8e00a61e68hf05xpp'],
  ['reconciliation_failed', 'reconciliation', '/reconciliation'],
  ['clock_offset', 'machine-1', null],
])('an alarm %s about %s is shown on %s', (kind, subject, page) => {
  const detail = 'The refund of pay_01m7facwp8e00a61e68hf05xpp was not booked.';
  expect(pageOfAlarm({ kind, subject, detail }, undefined)).toBe(page);
});

test('an endpoint is on the page of its partner', () => {
  const alarm = { kind: 'webhook_suspended', subject: 'whe_1', detail: '' };
  expect(pageOfAlarm(alarm, 'prt_1')).toBe('/partners/prt_1/webhook');
});
