import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../helpers/folders.ts';
import { makeQr, nextPaymentId, type Simulator, startSimulator } from '../helpers/simulator.ts';

const journalOf = (dir: string) => join(dir, 'journal.jsonl');

async function everything({ call }: Simulator) {
  const paths = ['/sim/qrs', '/orders?limit=1000', '/sim/faults', '/rate'];
  return Promise.all(paths.map(async path => (await call('GET', path)).body));
}

test('everything that was answered is there after kill -9', async () => {
  const dir = newFolder();
  const killed = await startSimulator({}, dir);
  const [once, changed, later, orphan] = await Promise.all([1, 2, 3, 4].map(() => makeQr(killed)));
  const ids = {
    once: nextPaymentId(),
    later: nextPaymentId(),
    lost: nextPaymentId(),
    voided: nextPaymentId(),
  };
  await once.pay(ids.once, { reference: 'sealed' });
  await killed.call('PATCH', `/sim/qrs/${changed.qrc_id}`, { amount_kopecks: 1 });
  await later.fault({ on: 'pay', kind: 'finish_later', ms: 3_600_000, outcome: 'succeeded' });
  expect((await later.pay(ids.later)).body.state).toBe('accepted');
  await orphan.fault({ on: 'pay', kind: 'answer_lost', times: 1 });
  await expect(orphan.pay(ids.lost)).rejects.toThrow('fetch failed');
  await orphan.fault({ id: 'twice', on: 'pay', kind: 'busy', times: 3 });
  await orphan.pay(nextPaymentId());
  await killed.call('POST', `/orders/${ids.voided}/void`);
  await killed.call('PUT', '/sim/rate', { rate: '95.01', frozen_as_of: 5 });
  const before = await everything(killed);
  expect(await killed.stop('SIGKILL')).toBeNull();

  const simulator = await startSimulator({}, dir);
  const { call } = simulator;
  expect(await everything(simulator)).toEqual(before);
  expect((await call('GET', '/sim/faults')).body.faults).toContainEqual(
    expect.objectContaining({ id: 'twice', times: 2 }),
  );
  const put = (id: string, { request }: { request: object }) => call('PUT', `/orders/${id}`, request);
  expect((await put(nextPaymentId(), once)).body.reason).toBe('QR_ALREADY_PAID');
  expect((await put(nextPaymentId(), changed)).body.code).toBe('QR_CHANGED');
  expect((await put(ids.voided, changed)).body.code).toBe('VOIDED');
  expect((await put(ids.lost, orphan)).body.state).toBe('succeeded');
  expect((await call('GET', `/orders/${ids.later}`)).body.state).toBe('accepted');
  // As every line of a journal was before orders had references.
  expect((await call('GET', `/orders/${ids.later}`)).body).not.toHaveProperty('reference');
  expect((await call('GET', `/orders/${ids.once}`)).body.reference).toBe('sealed');
});

test('an order ends on time although the simulator was down', async () => {
  const dir = newFolder();
  const killed = await startSimulator({}, dir);
  const [qr, paymentId] = [await makeQr(killed), nextPaymentId()];
  await qr.fault({ on: 'pay', kind: 'finish_later', ms: 100, outcome: 'declined', reason: 'TECH_ERROR' });
  expect((await qr.pay(paymentId)).body.state).toBe('accepted');
  await killed.stop('SIGKILL');
  await new Promise(resolve => setTimeout(resolve, 100));
  const { body } = await (await startSimulator({}, dir)).call('GET', `/orders/${paymentId}`);
  expect(body).toMatchObject({ state: 'declined', reason: 'TECH_ERROR' });
  expect(Date.parse(body.updated_at) - Date.parse(body.created_at)).toBeLessThan(110);
});

test('killed under load, it has every order that it answered, and each once', async () => {
  const dir = newFolder();
  const killed = await startSimulator({}, dir);
  const qr = await makeQr(killed, { reusable: true });
  const [answered, unanswered] = [new Set<string>(), new Set<string>()];
  const callers = Array.from({ length: 8 }, async () => {
    for (;;) {
      const paymentId = nextPaymentId();
      unanswered.add(paymentId);
      await qr.pay(paymentId);
      unanswered.delete(paymentId);
      answered.add(paymentId);
    }
  });
  const gone = Promise.allSettled(callers);
  await expect.poll(() => answered.size, { interval: 5 }).toBeGreaterThan(100);
  await killed.stop('SIGKILL');
  await gone;

  const { call } = await startSimulator({}, dir);
  const { orders } = (await call('GET', '/orders?limit=1000')).body;
  const kept = orders.map((order: { payment_id: string }) => order.payment_id);
  expect(new Set(kept).size).toBe(kept.length);
  expect(unanswered.size).toBe(8);
  expect([...answered].filter(paymentId => !kept.includes(paymentId))).toEqual([]);
  for (const paymentId of unanswered) {
    expect((await call('PUT', `/orders/${paymentId}`, qr.request)).body.state).toBe('succeeded');
  }
  expect((await call('GET', '/orders?limit=1000')).body.orders).toHaveLength(answered.size + 8);
});

test('a line that was cut off is dropped, and what comes after it is kept', async () => {
  const dir = newFolder();
  const first = await startSimulator({}, dir);
  const [qr, kept] = [await makeQr(first, { reusable: true }), nextPaymentId()];
  await qr.pay(kept);
  await first.stop('SIGKILL');
  for (const tail of ['{"type":"order","order":{"payment_id":"pay_c', '\0\0\0\n']) {
    fs.appendFileSync(journalOf(dir), tail);
    const simulator = await startSimulator({}, dir);
    const paymentId = nextPaymentId();
    await simulator.call('PUT', `/orders/${paymentId}`, qr.request);
    expect((await simulator.call('GET', `/orders/${kept}`)).status).toBe(200);
    await simulator.stop('SIGKILL');
  }
  const { call } = await startSimulator({}, dir);
  expect((await call('GET', '/orders')).body.orders).toHaveLength(3);
});

test('a journal that is damaged further up stops the start with one line', async () => {
  const dir = newFolder();
  fs.writeFileSync(
    journalOf(dir),
    '{"type":"void","payment_id":"a"}\nnonsense\n{"type":"void","payment_id":"b"}\n',
  );
  await expect(startSimulator({}, dir)).rejects.toThrow(/ended with 1: \S+ is damaged at line 2: [^\n]*\n$/);
});
