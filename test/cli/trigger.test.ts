import { beforeEach, describe, expect, test } from 'vitest';
import { Kopeck } from '../../sdk/src/index.ts';
import { createPartnerWithKeys, setRate, startApi } from '../helpers/api.ts';
import { kopeck } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';

const { pool } = await createDatabase();
const { address } = await startApi({ pool });
beforeEach(() => setRate(pool));

const { testKey: key } = await createPartnerWithKeys(pool);
const client = new Kopeck({ apiKey: key, baseUrl: address });

const trigger = (...args: string[]) => kopeck({}, 'trigger --key', key, '--url', address, ...args);

describe('kopeck trigger', () => {
  test.concurrent.each([
    ['succeeded', null],
    ['failed', 'gateway_declined'],
    ['processing', 'awaiting_gateway'],
  ])('payment.%s', async (status, detail) => {
    const { code, stdout, stderr } = await trigger(`payment.${status}`, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const payment = JSON.parse(stdout);
    expect(payment).toMatchObject({ mode: 'test', status, status_detail: detail, metadata: {} });
    const { id, amount_rub } = payment;
    expect(await client.payments.get(id)).toMatchObject({ id, amount_rub });
  });

  test('prints what will happen next', async () => {
    const [paid, open] = await Promise.all([trigger('payment.succeeded'), trigger('payment.processing')]);
    expect(paid.stdout).toMatch(
      /^payment {6}pay_\w+\nstatus {7}succeeded\namount {7}\d{3}\.00 RUB, .*\nThe event payment\.succeeded will be sent shortly\.\n$/s,
    );
    const { stdout } = open;
    expect(stdout).toContain('In 30 s the status will be succeeded and payment.succeeded will be sent.');
    expect(stdout).toContain(`curl -s ${address}/v1/test/clock`);
    expect(stdout).not.toContain(key);
  });

  test('payment.refunded: a payment whose money has come back', async () => {
    const { code, stdout } = await trigger('payment.refunded', '--json');
    expect(code).toBe(0);
    const payment = JSON.parse(stdout);
    expect(payment).toMatchObject({ mode: 'test', status: 'succeeded', refunded_rub: payment.amount_rub });
    expect(payment.refunded_usdt).toBe(payment.amount_usdt);
    const said = (await trigger('payment.refunded')).stdout;
    expect(said).toMatch(/\nrefunded {5}\d{3}\.00 RUB, [\d.]+ USDT\n/);
    expect(said).toContain('payment.refunded to endpoints that ask for it');
    const { stderr } = await trigger('payment.refunded', '--scenario', 'review_fails');
    expect(stderr).toContain('only a payment that succeeded can be refunded');
  });

  test('with a failure scenario', async () => {
    const { stdout } = await trigger('payment.succeeded', '--scenario', 'review_fails');
    expect(stdout).toContain('In 120 s the status will be failed and payment.failed will be sent.');
    const before = (await client.payments.list().page()).data.length;
    const lost = await trigger('payment.succeeded', '--scenario', 'answer_lost', '--json');
    const metadata = { kopeck_scenario: 'answer_lost' };
    expect(JSON.parse(lost.stdout)).toMatchObject({ status: 'succeeded', metadata });
    expect((await client.payments.list().page()).data).toHaveLength(before + 1);
  });

  test('a live key is refused before anything is sent', async () => {
    const receiver = await startReceiver();
    const live = 'svc_live_abc_secret';
    const refused = await kopeck({}, 'trigger payment.succeeded --json --url', receiver.url, '--key', live);
    expect([refused.code, refused.stdout, receiver.received]).toEqual([1, '', []]);
    expect(JSON.parse(refused.stderr).error.code).toBe('test_key_required');
    expect(refused.stderr).not.toContain('secret');
  });

  test('an unknown event is a wrong call, and a refusal by the service is one line', async () => {
    const [noEvent, noScenario, refused] = await Promise.all([
      trigger('payment.lost'),
      trigger('payment.succeeded', '--scenario', 'flood'),
      trigger('payment.succeeded', '--key', 'svc_test_a_b'),
    ]);
    expect([noEvent.code, noScenario.code]).toEqual([2, 2]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^[^\n]+\(req_\w+\)\n$/)]);
  });
});
