import fc from 'fast-check';
import { afterAll, expect, test, vi } from 'vitest';
import { blockRecipient, setMaintenance, unblockRecipient } from '../../src/controls/index.ts';
import { topUp, verifyLedger } from '../../src/ledger/index.ts';
import { setLimits, setSuspended } from '../../src/partners/index.ts';
import { recoverDuePayments } from '../../src/payments/index.ts';
import { createCustomer, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';

/**
 * The API against a model of it: random calls of two partners in both modes, and of the operator, one after the
 * other. The model is what the contract says, in plain arithmetic; it predicts every status, code and balance.
 */
const runs = 15;
const { pool } = await createDatabase();
const audit = auditContextOf(pool);
const clock = manualClock();
const simulator = await startSimulator();
const { address, deps } = await startApi({ pool, clock, gatewayUrl: simulator.address, answerWithinMs: 0 });

type Mode = 'live' | 'test';

/** What happens when a code is paid. */
type Behaviour =
  | 'pays'
  | 'pays once'
  | 'declines'
  | 'later'
  | 'never heard'
  | 'answer lost'
  | 'busy'
  | 'changed';

interface Code {
  url: string;
  kopecks: number | undefined;
  behaviour: Behaviour;
  paid: boolean;
}

const faultOf: Partial<Record<Behaviour, object>> = {
  declines: { kind: 'decline', reason: 'LIMIT_EXCEEDED' },
  later: { kind: 'finish_later', ms: 86_400_000, outcome: 'succeeded' },
  'never heard': { kind: 'drop_before' },
  'answer lost': { kind: 'answer_lost' },
  busy: { kind: 'busy' },
};

const liveRecipient = 'Лавка образцов';
const recipientOf = { live: liveRecipient, test: 'Test recipient' };

async function makeCodes(): Promise<Record<Mode, Code[]>> {
  const live = (
    ['pays', 'pays once', 'declines', 'later', 'never heard', 'answer lost', 'busy'] as const
  ).map(async (behaviour): Promise<Code> => {
    const reusable = behaviour === 'pays' || behaviour === 'answer lost';
    const qr = await makeQr(simulator, { reusable, recipient: liveRecipient });
    const fault = faultOf[behaviour];
    if (fault) await qr.fault({ on: 'pay', ...fault });
    return { url: qr.link, kopecks: 15_000, behaviour, paid: false };
  });
  const ofTest = (kopecks: number | undefined, behaviour: Behaviour): Code => ({
    ...{ url: newLink(kopecks), kopecks, behaviour, paid: false },
  });
  return {
    live: await Promise.all(live),
    test: [
      ofTest(15_000, 'pays'),
      ofTest(15_001, 'declines'),
      ofTest(15_002, 'later'),
      ofTest(15_003, 'changed'),
      ofTest(900, 'pays'),
      ofTest(50_000_000, 'pays'),
      ofTest(undefined, 'pays'),
    ],
  };
}

interface ModelPayment {
  id: string;
  key: string;
  body: string;
  code: Code;
  mode: Mode;
  kopecks: number;
  status: 'processing' | 'succeeded' | 'failed';
  detail: string | null;
  error: string | null;
  day: number;
  /** When it is looked at next, and how often it was. */
  openedMs: number;
  nextMs: number;
  tries: number;
}

interface Account {
  balance: number;
  references: Map<string, number>;
  /** Oldest first. */
  payments: ModelPayment[];
}

interface ModelPartner {
  suspended: boolean;
  limits: { maxKopecks: number; dailyKopecks: number | null; concurrent: number };
  accounts: Record<Mode, Account>;
}

const pausesMs = [2_000, 5_000, 10_000, 30_000, 60_000];
const microUsdt = (kopecks: number) => Math.ceil((kopecks * 100_000_000) / 925_000);
const formatUsdt = (micro: number) => (micro / 1_000_000).toFixed(6);
const today = () => Math.floor(clock.nowMs() / 86_400_000);

class Model {
  maintenance = false;
  blocked = new Set<string>();
  rateMs = clock.nowMs();
  partners: ModelPartner[] = [];

  unfinished(code: Code, mode: Mode, who: ModelPartner): boolean {
    const payments = (mode === 'live' ? this.partners : [who]).flatMap(
      ({ accounts }) => accounts[mode].payments,
    );
    return payments.some(payment => payment.code === code && payment.status === 'processing');
  }

  /** The error that a new payment meets, in the order of checks. */
  objection(who: ModelPartner, mode: Mode, code: Code, amount: number | undefined): string | undefined {
    const { limits, accounts } = who;
    const { payments, balance } = accounts[mode];
    if (this.maintenance) return '503 maintenance';
    if (clock.nowMs() - this.rateMs > 300_000) return '503 rate_unavailable';
    const kopecks = code.kopecks ?? amount;
    if (kopecks === undefined) return '400 unsupported_variable_amount';
    if (amount !== undefined && amount !== kopecks) return '400 amount_mismatch';
    if (kopecks < 1_000) return '400 invalid_request';
    if (kopecks > limits.maxKopecks) return '400 amount_limit_exceeded';
    if (this.blocked.has(recipientOf[mode])) return '403 recipient_blocked';
    if (code.behaviour === 'changed') return '409 qr_changed';
    if (this.unfinished(code, mode, who)) return '409 duplicate_qr_in_flight';
    if (payments.filter(({ detail }) => detail === 'awaiting_gateway').length >= limits.concurrent)
      return '503 gateway_busy';
    const turnover = payments
      .filter(({ day, status }) => day === today() && status !== 'failed')
      .reduce((sum, payment) => sum + payment.kopecks, 0);
    if (limits.dailyKopecks !== null && turnover + kopecks > limits.dailyKopecks)
      return '403 daily_limit_exceeded';
    if (balance < microUsdt(kopecks)) return '402 insufficient_balance';
    if (code.behaviour === 'busy') return '503 gateway_busy';
    return undefined;
  }

  finish(account: Account, payment: ModelPayment, error: string | null): void {
    payment.status = error ? 'failed' : 'succeeded';
    payment.detail = error && 'gateway_declined';
    payment.error = error;
    if (error) account.balance += microUsdt(payment.kopecks);
    else payment.code.paid = true;
  }

  open(account: Account, payment: ModelPayment): void {
    const { code, mode } = payment;
    account.payments.push(payment);
    account.balance -= microUsdt(payment.kopecks);
    payment.openedMs = clock.nowMs();
    payment.nextMs = clock.nowMs() + (mode === 'test' ? 30_000 : 2_000);
    if (code.behaviour === 'pays once' && code.paid) this.finish(account, payment, 'qr_already_paid');
    else if (code.behaviour === 'pays' || code.behaviour === 'pays once') this.finish(account, payment, null);
    else if (code.behaviour === 'declines')
      this.finish(account, payment, mode === 'test' ? 'gateway_declined' : 'limit_exceeded');
    else payment.detail = code.behaviour === 'later' ? 'awaiting_gateway' : 'manual_review';
  }

  recover(): void {
    for (const account of this.partners.flatMap(({ accounts }) => [accounts.live, accounts.test])) {
      for (const payment of account.payments) {
        if (payment.status !== 'processing' || payment.nextMs > clock.nowMs()) continue;
        if (payment.code.behaviour === 'never heard') this.finish(account, payment, 'not_executed');
        else if (payment.mode === 'test' || payment.code.behaviour === 'answer lost')
          this.finish(account, payment, null);
        else {
          payment.tries += 1;
          if (clock.nowMs() - payment.openedMs >= 7_200_000) payment.detail = 'manual_review';
          payment.nextMs = clock.nowMs() + pausesMs[Math.min(payment.tries, 4)]!;
        }
      }
    }
  }
}

/** The real thing beside the model, for one sequence of calls. */
async function start() {
  await setRate(pool, clock);
  const model = new Model();
  const codes = await makeCodes();
  const customers = [await createCustomer(pool, 3_300_000n), await createCustomer(pool, 3_300_000n)];
  const account = (balance: number): Account => ({ balance, references: new Map(), payments: [] });
  model.partners = customers.map(() => ({
    suspended: false,
    limits: { maxKopecks: 10_000_000, dailyKopecks: null, concurrent: 100 },
    accounts: { live: account(3_300_000), test: account(10_000_000_000) },
  }));
  const api = customers.map(({ liveKey, testKey }) => ({
    live: partnerAt(address, liveKey),
    test: partnerAt(address, testKey),
  }));
  /** What the database announces reaches the door in its own time. */
  const settled = (who: number) =>
    vi.waitFor(
      async () => {
        const { testKey, liveKey } = customers[who]!;
        const { suspended, limits } = model.partners[who]!;
        for (const key of [testKey, liveKey]) {
          const caller = await deps.authenticator.authenticate({ key, address: '127.0.0.1' });
          expect(caller.outcome).toBe(suspended ? 'partner_suspended' : 'ok');
          if (caller.outcome !== 'ok') continue;
          const { maxKopecks, dailyKopecks, concurrent } = caller.limits;
          expect({ maxKopecks, dailyKopecks, concurrent }).toEqual({
            maxKopecks: BigInt(limits.maxKopecks),
            dailyKopecks: limits.dailyKopecks === null ? null : BigInt(limits.dailyKopecks),
            concurrent: limits.concurrent,
          });
        }
      },
      { timeout: 3_000, interval: 5 },
    );
  return { model, codes, customers, api, settled };
}

type World = Awaited<ReturnType<typeof start>>;
type Step = (world: World) => Promise<void>;

/** What closes the door is undone more often than done, or nothing would ever be paid. */
const rarely = fc.constantFrom(true, false, false);
const who = fc.nat(1);
const mode = fc.constantFrom<Mode>('live', 'test');
const call = <T extends object>(
  name: string,
  fields: { [K in keyof T]: fc.Arbitrary<T[K]> },
  run: (fields: T, world: World) => Promise<void>,
) =>
  fc.record(fields).map(values => {
    const step: Step = world => run(values as T, world);
    return Object.assign(step, { toString: () => `${name}${JSON.stringify(values)}` });
  });

interface Caller {
  who: number;
  mode: Mode;
}
const caller = { who, mode };
const codeOf = ({
  status,
  json,
}: {
  status: number;
  json: { error?: { code: string } | null; id?: string };
}) => (json.error && !json.id ? `${status} ${json.error.code}` : `${status}`);

async function expectBalance({ model, api }: World, { who, mode }: Caller): Promise<void> {
  const answer = await api[who]![mode].get('/v1/balance');
  const { suspended, accounts } = model.partners[who]!;
  if (suspended) return expect(codeOf(answer)).toBe('403 partner_suspended');
  expect(answer.json.balance_usdt).toBe(formatUsdt(accounts[mode].balance));
}

const shown = (payment: ModelPayment) => ({
  id: payment.id,
  mode: payment.mode,
  status: payment.status,
  status_detail: payment.detail,
  amount_usdt: formatUsdt(microUsdt(payment.kopecks)),
  error: payment.error === null ? null : { code: payment.error, message: expect.any(String) },
});

const pay = call<Caller & { code: number; key: number; order: number; amount: 'none' | 'right' | 'wrong' }>(
  'pay',
  {
    ...caller,
    code: fc.nat(6),
    key: fc.nat(11),
    order: fc.nat(1),
    amount: fc.constantFrom('none', 'none', 'none', 'right', 'right', 'right', 'wrong'),
  },
  async ({ who, mode, ...wanted }, world) => {
    const { model, codes, api } = world;
    const code = codes[mode][wanted.code]!;
    const right = code.kopecks ?? 20_000;
    const amount = { none: undefined, right, wrong: right + 100 }[wanted.amount];
    const body = {
      qr_url: code.url,
      external_id: `order ${wanted.order}`,
      ...(amount === undefined ? {} : { amount_rub: (amount / 100).toFixed(2) }),
    };
    const [key, text] = [`key ${wanted.key}`, JSON.stringify(body)];
    const partner = model.partners[who]!;
    const account = partner.accounts[mode];
    const answer = await api[who]![mode].pay(body, key);
    const known = account.payments.find(payment => payment.key === key);
    if (partner.suspended) expect(codeOf(answer)).toBe('403 partner_suspended');
    else if (known) {
      expect(codeOf(answer)).toBe(known.body === text ? '200' : '409 idempotency_conflict');
      if (known.body === text) expect(answer.json).toMatchObject(shown(known));
    } else {
      const objection = model.objection(partner, mode, code, amount);
      expect(codeOf(answer)).toBe(objection ?? '200');
      if (objection === '402 insufficient_balance')
        expect(answer.json.error).toMatchObject({
          required_usdt: formatUsdt(microUsdt(code.kopecks ?? amount!)),
          balance_usdt: formatUsdt(account.balance),
        });
      if (!objection) {
        const payment: ModelPayment = {
          ...{ id: answer.json.id, key, body: text, code, mode, kopecks: code.kopecks ?? amount! },
          ...{
            status: 'processing',
            detail: null,
            error: null,
            day: today(),
            openedMs: 0,
            nextMs: 0,
            tries: 0,
          },
        };
        model.open(account, payment);
        expect(answer.json).toMatchObject(shown(payment));
      }
    }
    await expectBalance(world, { who, mode });
  },
);

const get = call<Caller & { owner: number; from: Mode; index: number }>(
  'get',
  { ...caller, owner: who, from: mode, index: fc.nat(9) },
  async ({ who, mode, owner, from, index }, { model, api }) => {
    const { payments } = model.partners[owner]!.accounts[from];
    const payment = payments[index % Math.max(1, payments.length)];
    const answer = await api[who]![mode].get(`/v1/payments/${payment?.id ?? 'pay_nothing'}`);
    const isOwn = payment && who === owner && mode === from;
    if (model.partners[who]!.suspended) expect(codeOf(answer)).toBe('403 partner_suspended');
    else if (isOwn) expect(answer.json).toMatchObject(shown(payment));
    else expect(codeOf(answer)).toBe('404 not_found');
  },
);

const list = call<Caller & { limit: number; status: ModelPayment['status'] | null }>(
  'list',
  {
    ...caller,
    limit: fc.integer({ min: 1, max: 4 }),
    status: fc.constantFrom(null, 'processing', 'succeeded', 'failed'),
  },
  async ({ who, mode, limit, status }, { model, api }) => {
    const { suspended, accounts } = model.partners[who]!;
    const expected = accounts[mode].payments
      .filter(payment => !status || payment.status === status)
      .toReversed();
    const listed: object[] = [];
    for (let cursor = ''; ; ) {
      const filter = status ? `&status=${status}` : '';
      const answer = await api[who]![mode].get(`/v1/payments?limit=${limit}${filter}${cursor}`);
      if (suspended) return expect(codeOf(answer)).toBe('403 partner_suspended');
      listed.push(...answer.json.data);
      if (!answer.json.has_more) break;
      expect(answer.json.data).toHaveLength(limit);
      cursor = `&starting_after=${answer.json.next_cursor}`;
    }
    expect(listed).toMatchObject(expected.map(shown));
    expect(listed).toHaveLength(expected.length);
  },
);

const credit = call<Caller & { reference: string; microUsdt: number }>(
  'credit',
  {
    ...caller,
    reference: fc.constantFrom('a', 'b', 'c'),
    microUsdt: fc.constantFrom(1, 1_621_621, 3_000_000),
  },
  async ({ who, mode, reference, microUsdt }, world) => {
    const item = {
      partnerId: world.customers[who]!.partnerId,
      mode,
      reference,
      microUsdt: BigInt(microUsdt),
    };
    const { outcome } = await topUp(audit, item);
    const account = world.model.partners[who]!.accounts[mode];
    const before = account.references.get(reference);
    expect(outcome).toBe(
      before === undefined ? 'credited' : before === microUsdt ? 'already_credited' : 'conflict',
    );
    if (before === undefined) {
      account.references.set(reference, microUsdt);
      account.balance += microUsdt;
    }
    await expectBalance(world, { who, mode });
  },
);

const suspend = call<{ who: number; suspended: boolean }>(
  'suspend',
  { who, suspended: rarely },
  async ({ who, suspended }, { model, customers, settled }) => {
    await setSuspended(audit, customers[who]!.partnerId, suspended);
    model.partners[who]!.suspended = suspended;
    await settled(who);
  },
);

const limit = call<{ who: number } & ModelPartner['limits']>(
  'limit',
  {
    who,
    maxKopecks: fc.constantFrom(14_999, 10_000_000, 100_000_000, 100_000_000),
    dailyKopecks: fc.constantFrom(null, null, 30_000),
    concurrent: fc.constantFrom(1, 1, 2, 100),
  },
  async ({ who, ...limits }, { model, customers, settled }) => {
    const { maxKopecks, dailyKopecks, concurrent } = limits;
    await setLimits(audit, customers[who]!.partnerId, {
      concurrent,
      maxKopecks: BigInt(maxKopecks),
      dailyKopecks: dailyKopecks === null ? null : BigInt(dailyKopecks),
    });
    model.partners[who]!.limits = limits;
    await settled(who);
  },
);

const maintain = call<{ on: boolean }>('maintain', { on: rarely }, async ({ on }, { model }) => {
  await setMaintenance(audit, on);
  model.maintenance = on;
});

const block = call<{ mode: Mode; blocked: boolean }>(
  'block',
  { mode, blocked: rarely },
  async ({ mode, blocked }, { model }) => {
    const recipient = recipientOf[mode];
    await (blocked ? blockRecipient(audit, recipient) : unblockRecipient(audit, recipient));
    if (blocked) model.blocked.add(recipient);
    else model.blocked.delete(recipient);
  },
);

const wait = call<{ ms: number }>(
  'wait',
  { ms: fc.constantFrom(1_999, 2_000, 5_000, 30_000, 30_000, 250_000, 50_400_000) },
  async ({ ms }, { model }) => {
    clock.advance(ms);
    await recoverDuePayments(deps);
    model.recover();
  },
);

const refresh = call<{ rate: null }>('refresh', { rate: fc.constant(null) }, async (_fields, { model }) => {
  await setRate(pool, clock);
  model.rateMs = clock.nowMs();
});

const step = fc.oneof(
  { weight: 18, arbitrary: pay },
  { weight: 2, arbitrary: get },
  { weight: 2, arbitrary: list },
  { weight: 1, arbitrary: credit },
  { weight: 1, arbitrary: suspend },
  { weight: 1, arbitrary: limit },
  { weight: 1, arbitrary: maintain },
  { weight: 1, arbitrary: block },
  { weight: 3, arbitrary: wait },
  { weight: 3, arbitrary: refresh },
);

async function compare(steps: Step[]): Promise<void> {
  const world = await start();
  try {
    for (const run of steps) await run(world);
    for (const who of [0, 1])
      for (const mode of ['live', 'test'] as const) await expectBalance(world, { who, mode });
  } finally {
    await setMaintenance(audit, false);
    for (const recipient of Object.values(recipientOf)) await unblockRecipient(audit, recipient);
    await simulator.call('DELETE', '/sim/faults');
    // What is still open is not the business of the next sequence.
    await pool.query(`UPDATE open_payments SET next_at = 'infinity'`);
  }
}

afterAll(async () => expect((await verifyLedger(pool)).findings).toEqual([]));

test('the API does what a small model of it predicts', async () => {
  const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31);
  console.info(`MODEL_SEED=${seed}`);
  const deadlineMs = performance.now() + 40_000;
  let isShrinking = false;
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 20, maxLength: 40, size: 'max' }),
    async steps => {
      if (isShrinking && performance.now() > deadlineMs) return;
      await compare(steps).catch(error => {
        // A failure is made as small as there is time for.
        isShrinking = true;
        throw error;
      });
    },
  );
  await fc.assert(property, { seed, numRuns: runs });
}, 180_000);
