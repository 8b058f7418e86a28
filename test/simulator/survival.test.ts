import * as fs from 'node:fs';
import { join } from 'node:path';
import { test as base, expect } from 'vitest';
import { newFolder } from '../helpers/folders.ts';
import {
  makeQr,
  nextPaymentId,
  openSimulator,
  type Simulator,
  startSimulator,
} from '../helpers/simulator.ts';

const journalOf = (dir: string) => join(dir, 'journal.jsonl');

/** What kill -9 leaves of a simulator in the process of the test. */
function killed(dir: string): string {
  const copy = newFolder();
  fs.copyFileSync(journalOf(dir), journalOf(copy));
  return copy;
}

async function everything({ call }: Pick<Simulator, 'call'>) {
  const paths = ['/sim/qrs', '/orders?limit=1000', '/sim/faults', '/rate'];
  return Promise.all(paths.map(async path => (await call('GET', path)).body));
}
const test = base.extend('dir', () => newFolder());

test('everything that was answered is there after kill -9', async ({ dir }) => {
  const first = await openSimulator({}, dir);
  const [once, changed, later, orphan] = await Promise.all([1, 2, 3, 4].map(() => makeQr(first)));
  const ids = {
    once: nextPaymentId(),
    later: nextPaymentId(),
    lost: nextPaymentId(),
    voided: nextPaymentId(),
  };
  await once.pay(ids.once, { reference: 'sealed' });
  await first.call('PATCH', `/sim/qrs/${changed.qrc_id}`, { amount_kopecks: 1 });
  await later.fault({ on: 'pay', kind: 'finish_later', ms: 3_600_000, outcome: 'succeeded' });
  expect((await later.pay(ids.later)).body.state).toBe('accepted');
  await orphan.fault({ on: 'pay', kind: 'answer_lost', times: 1 });
  await expect(orphan.pay(ids.lost)).rejects.toThrow('fetch failed');
  await orphan.fault({ id: 'twice', on: 'pay', kind: 'busy', times: 3 });
  await orphan.pay(nextPaymentId());
  await first.call('POST', `/orders/${ids.voided}/void`);
  await first.call('PUT', '/sim/rate', { rate: '95.01', frozen_as_of: 5 });
  const before = await everything(first);

  const simulator = await openSimulator({}, killed(dir));
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

test('an order ends on time although the simulator was down', async ({ dir }) => {
  const first = await openSimulator({}, dir);
  const [qr, paymentId] = [await makeQr(first), nextPaymentId()];
  await qr.fault({ on: 'pay', kind: 'finish_later', ms: 100, outcome: 'declined', reason: 'TECH_ERROR' });
  expect((await qr.pay(paymentId)).body.state).toBe('accepted');
  await new Promise(resolve => setTimeout(resolve, 100));
  const { body } = await (await openSimulator({}, killed(dir))).call('GET', `/orders/${paymentId}`);
  expect(body).toMatchObject({ state: 'declined', reason: 'TECH_ERROR' });
  expect(Date.parse(body.updated_at) - Date.parse(body.created_at)).toBeLessThan(110);
});

test('killed under load, it has every order that it answered, and each once', async ({ dir }) => {
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
  let dir = newFolder();
  const first = await openSimulator({}, dir);
  const [qr, kept] = [await makeQr(first, { reusable: true }), nextPaymentId()];
  await qr.pay(kept);
  for (const tail of ['{"type":"order","order":{"payment_id":"pay_c', '\0\0\0\n']) {
    dir = killed(dir);
    fs.appendFileSync(journalOf(dir), tail);
    const { call } = await openSimulator({}, dir);
    await call('PUT', `/orders/${nextPaymentId()}`, qr.request);
    expect((await call('GET', `/orders/${kept}`)).status).toBe(200);
  }
  const { call } = await openSimulator({}, killed(dir));
  expect((await call('GET', '/orders')).body.orders).toHaveLength(3);
});

test('a journal that is damaged further up stops the start with one line', async ({ dir }) => {
  fs.writeFileSync(
    journalOf(dir),
    '{"type":"void","payment_id":"a"}\nnonsense\n{"type":"void","payment_id":"b"}\n',
  );
  await expect(openSimulator({}, dir)).rejects.toThrow(/^\S+ is damaged at line 2: [^\n]*$/);
});

test.concurrent('a folder has one simulator', async () => {
  const dir = newFolder();
  const first = await startSimulator({}, dir);
  const waiting = startSimulator({}, dir);
  await new Promise(resolve => setTimeout(resolve, 300));
  await Promise.all([first.stop('SIGKILL'), expect(waiting).resolves.toBeDefined()]);
  await expect(startSimulator({}, dir)).rejects.toThrow(
    /^the simulator ended with 1: SIMULATOR_DIR \S+ is in use/,
  );
});

test.concurrent.each(['SIGTERM', 'SIGINT'] as const)(
  'ends at once on %s, stalled clients or not',
  async signal => {
    const simulator = await startSimulator();
    const qr = await makeQr(simulator);
    await qr.fault({ on: 'resolve', kind: 'stall' });
    const stalled = qr.resolve().then(
      () => 'answered',
      () => 'hung up on',
    );
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(await simulator.stop(signal)).toBe(0);
    expect(await stalled).toBe('hung up on');
  },
);

test.concurrent('ends with its stdin only if the setting is on', async () => {
  const [follower, loner] = await Promise.all([
    startSimulator({ SIMULATOR_FOLLOW_STDIN: '1' }),
    startSimulator(),
  ]);
  loner.closeStdin();
  follower.closeStdin();
  expect(await follower.ended).toBe(0);
  expect((await loner.call('GET', '/rate')).status).toBe(200);
});

test.concurrent.each([
  ['SIMULATOR_PORT', '70000'],
  ['SIMULATOR_RATE', 'ninety'],
])('a bad %s=%s is one line that names it', async (name, value) => {
  await expect(startSimulator({ [name]: value })).rejects.toThrow(
    new RegExp(`ended with 1: ${name} must [^\\n]*\\n$`),
  );
});

test.concurrent('a port in use is one line that names it', async () => {
  const port = new URL((await startSimulator()).address).port;
  await expect(startSimulator({ SIMULATOR_PORT: port })).rejects.toThrow(
    /ended with 1: SIMULATOR_PORT [^\n]*EADDRINUSE\.\n$/,
  );
});
