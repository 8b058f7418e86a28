import { expect, test } from 'vitest';
import { ledgerGauges } from '../../src/ledger/index.ts';
import { paymentGauges } from '../../src/payments/index.ts';
import { rateGauges } from '../../src/rates/index.ts';
import { newLink, partnerAt } from '../helpers/api.ts';
import { readGauges } from '../helpers/gauges.ts';
import { startLiveWorld } from './live-world.ts';

const { pool, clock, deps, newCustomer, qrWith, recoverAfter, untilBank, patient } = await startLiveWorld();
const scrape = async () => (await deps.metrics.metrics()).split('\n');
const read = (gauges: typeof paymentGauges) => readGauges(pool, gauges, clock);

test('live payments are counted by outcome, and measured in each phase and batch', async () => {
  const { partner } = await newCustomer();
  await partner.pay({ qr_url: (await qrWith()).link });
  await partner.pay({ qr_url: (await qrWith({ on: 'pay', kind: 'decline', reason: 'QR_EXPIRED' })).link });
  await partner.pay({ qr_url: (await qrWith()).link, amount_rub: 1 });
  const lines = await scrape();
  for (const line of [
    'kopeck_payments_total{mode="live",outcome="succeeded",code=""} 1',
    'kopeck_payments_total{mode="live",outcome="failed",code="qr_expired"} 1',
    'kopeck_payments_total{mode="live",outcome="refused",code="amount_mismatch"} 1',
    'kopeck_payment_phase_seconds_count{mode="live",phase="resolve"} 3',
    'kopeck_payment_phase_seconds_count{mode="live",phase="open"} 2',
    'kopeck_payment_phase_seconds_count{mode="live",phase="gateway"} 2',
    'kopeck_payment_phase_seconds_count{mode="live",phase="finish"} 2',
    'kopeck_batch_size_sum{statement="open"} 2',
    'kopeck_batch_wait_seconds_count{statement="finish"} 2',
    'kopeck_api_errors_total{route="/v1/payments",code="amount_mismatch"} 1',
    // Those of the alert about refused payments are there before the first of them.
    ...['internal_error', 'gateway_busy', 'gateway_unavailable', 'rate_unavailable'].map(
      code => `kopeck_api_errors_total{route="/v1/payments",code="${code}"} 0`,
    ),
    'kopeck_admission_places{state="taken"} 0',
  ])
    expect(lines).toContain(line);
});

test('a payment that was undone is a refused request, once', async () => {
  const { partner } = await newCustomer();
  await partner.pay({ qr_url: (await qrWith({ on: 'pay', kind: 'changed_qr' })).link });
  const lines = (await scrape()).filter(
    line => line.includes('code="qr_changed"') && line.includes('outcome'),
  );
  expect(lines).toEqual(['kopeck_payments_total{mode="live",outcome="refused",code="qr_changed"} 1']);
});

test('a test payment that ends when it is opened is counted there', async () => {
  const { testKey } = await newCustomer();
  await partnerAt(patient.address, testKey).pay({ qr_url: newLink(10_001) });
  const lines = await scrape();
  expect(lines).toContain('kopeck_payments_total{mode="test",outcome="failed",code="gateway_declined"} 1');
  // Twice if the rate is newer than that of the last payment.
  expect(lines.join('\n')).toMatch(/kopeck_payment_phase_seconds_count{mode="test",phase="open"} [12]\n/);
  expect(lines.join('\n')).not.toContain('mode="test",phase="resolve"');
});

test('an unfinished payment has an age and holds money; one that recovery ends is counted', async () => {
  const { inHaste } = await newCustomer();
  expect(await read(paymentGauges)).toContain('kopeck_payment_oldest_unfinished_seconds{mode="live"} 0');
  // Without a value nobody could see it fall to zero.
  expect(await read(paymentGauges)).toContain('kopeck_payments_unfinished{state="awaiting_gateway"} 0');
  const qr = await qrWith({ on: 'pay', kind: 'finish_later', ms: 50, outcome: 'succeeded' });
  await inHaste.pay({ qr_url: qr.link });
  expect(await read(paymentGauges)).toContain('kopeck_payments_unfinished{state="awaiting_gateway"} 1');
  clock.advance(90_000);
  const readValue = async (gauges: typeof paymentGauges, name: string) =>
    Number((await read(gauges)).find(line => line.startsWith(`${name} `))!.split(' ')[1]);
  expect(await readValue(paymentGauges, 'kopeck_payment_oldest_unfinished_seconds{mode="live"}')).toBe(90);
  expect(await readValue(ledgerGauges, 'kopeck_balance_usdt{mode="live",account="held"}')).toBe(1.621622);
  expect(await readValue(rateGauges, 'kopeck_rate_age_seconds')).toBe(90);
  expect(await readValue(rateGauges, 'kopeck_rate_rub_per_usdt')).toBe(92.5);
  await untilBank(qr.qrc_id, 'paid');
  await recoverAfter(0);
  expect(await scrape()).toContain('kopeck_payments_total{mode="live",outcome="succeeded",code=""} 2');
  expect(await read(paymentGauges)).toContain('kopeck_payment_oldest_unfinished_seconds{mode="live"} 0');
});
