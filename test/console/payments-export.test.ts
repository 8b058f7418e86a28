import { describe, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { paymentsCsv } from '../../src/console/payments/export.ts';
import { writePayments } from '../../src/web/index.ts';
import { resolution, startPaymentsConsole } from './payments-world.ts';

const { pool, partnerId, viewer, support, open } = await startPaymentsConsole();
const ids = [await open(10_000n), await open(20_050n), await open(30_000n), await open(40_000n)];
await support.post(`/payments/${ids[0]}/resolve`, resolution);
await support.post(`/payments/${ids[1]}/resolve`, { ...resolution, outcome: 'failed' });
await pool.query(
  `UPDATE payments SET recipient = '=HYPERLINK("http://evil")', external_id = '+1,2' WHERE id = $1`,
  [uuidFromId(ids[2]!)],
);

describe('GET /payments/totals', () => {
  test('sums what the filters match, by state', async () => {
    const { json } = await viewer.get('/payments/totals');
    const total = (state: string, count: number, rub: string, usdt: string) => ({
      mode: 'live',
      state,
      count,
      rub,
      usdt,
    });
    expect(json).toEqual({
      totals: [
        total('succeeded', 1, '100.00', '11.000000'),
        total('manual_review', 2, '700.00', '22.000000'),
        total('failed', 1, '200.50', '11.000000'),
      ],
      is_complete: true,
    });
    expect((await viewer.get('/payments/totals?status=failed')).json.totals).toHaveLength(1);
    expect((await viewer.get(`/payments/totals?partner_id=${partnerId}&mode=test`)).json.totals).toEqual([]);
    expect((await viewer.get(`/payments/totals?q=${ids[3]}`)).json.totals).toMatchObject([{ rub: '400.00' }]);
  });
});

describe('GET /payments/export', () => {
  const linesOf = (text: string) => text.trimEnd().split('\n');

  test('has the payments of the filter, newest first, without spreadsheet formulas', async () => {
    const { headers, text } = await viewer.get('/payments/export');
    expect(headers.get('content-disposition')).toBe('attachment; filename="payments.csv"');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [head, ...lines] = linesOf(text);
    expect(head).toMatch(/^payment_id,created_at,settled_at,partner_id,partner,mode,status,/);
    expect(lines.map(line => line.split(',')[0])).toEqual(ids.toReversed());
    expect(lines[1]).toContain(`"'=HYPERLINK(""http://evil"")"`);
    expect(lines[1]).toContain(`"'+1,2"`);
    expect(linesOf((await viewer.get('/payments/export?status=failed')).text)).toHaveLength(2);
    expect(linesOf((await viewer.get('/payments/export?external_id=none')).text)).toHaveLength(1);
  });

  test('says so when there are more payments than it has', async () => {
    const written = async (max: number) => {
      let text = '';
      for await (const piece of writePayments(pool, [{}], { ...paymentsCsv, max })) text += piece;
      return linesOf(text);
    };
    const cut = await written(3);
    expect(cut).toHaveLength(5);
    expect(cut[4]).toBe('Only the newest 3 payments are in this file: choose a shorter period.');
    expect(await written(4)).toHaveLength(5);
    expect((await written(4))[4]).toContain(ids[0]);
  });
});

test('a request to resolve names the partner and the balance that it changes', async () => {
  const large = await open(5_000_000n);
  const asked = await support.post(`/payments/${large}/resolve`, resolution);
  expect(asked.json).toMatchObject({ outcome: 'waiting' });
  const { balance, request } = (await viewer.get(`/payments/${large}`)).json;
  expect(balance).toEqual({
    partner_id: partnerId,
    partner: 'Test shop',
    mode: 'live',
    // 10 000 less one that was debited and three on hold.
    available_usdt: '9956.000000',
    held_usdt: '33.000000',
  });
  expect(request).toMatchObject({ amount_rub: '50000.00', amount_usdt: '11.000000', balance });
  const [waiting] = (await viewer.get('/requests?state=waiting')).json.data;
  expect(waiting).toEqual(request);
  await support.post(`/requests/${waiting.request_id}/withdraw`);
  expect((await viewer.get('/requests?state=withdrawn')).json.data[0].balance).toBeNull();
});
