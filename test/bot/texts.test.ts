import { expect, test } from 'vitest';
import { textsByLanguage } from '../../src/bot/texts/index.ts';

const { en, ru } = textsByLanguage;
const attempt = { eventId: 17n, paymentId: 'pay_1', attempt: 2, durationMs: 12 };
const at = new Date('2026-11-05T09:07:00Z');

/** Russian groups digits by a no-break space. */
const plain = (text: string) => text.replaceAll('\u00a0', ' ');

test('amounts and times are written as in the language', () => {
  const credit = [{ at, mode: 'live' as const, microUsdt: 12_345_500_000n, reference: 'tx-1' }];
  expect(en.balance.credits(credit)).toContain('05 Nov 2026, 09:07 UTC live: 12,345.500000 USDT, tx-1');
  expect(plain(ru.balance.credits(credit))).toContain(
    '05.11.2026, 09:07 UTC боевой: 12 345,500000 USDT, tx-1',
  );
  const low = { balance_usdt: '1234.500000', mark_usdt: '5000.000000' };
  expect(en.notices.balance_low(low, 1)).toContain('1,234.500000 USDT');
  expect(plain(ru.notices.balance_low(low, 1))).toContain('1 234,500000 USDT');
});

test('an attempt without a response says why in words', () => {
  const attempts = [{ ...attempt, at, status: null, error: 'refused' }] as never;
  expect(en.webhook.attempts(attempts)).toContain('#2: connection refused, 12 ms');
  expect(ru.webhook.attempts(attempts)).toContain('№2: в соединении отказано, 12 мс');
  const answered = [{ ...attempt, at, status: 503, error: null }] as never;
  expect(ru.webhook.attempts(answered)).toContain('№2: 503, 12 мс');
});
