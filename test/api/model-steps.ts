import fc from 'fast-check';
import { expect } from 'vitest';
import { blockRecipient, setMaintenance, unblockRecipient } from '../../src/controls/index.ts';
import { topUp } from '../../src/ledger/index.ts';
import { setLimits, setSuspended } from '../../src/partners/index.ts';
import { setRate } from '../helpers/api.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import {
  dayOf,
  formatUsdt,
  type Mode,
  type ModelPartner,
  type ModelPayment,
  microUsdt,
  recipientOf,
} from './api-model.ts';
import type { World } from './model-world.ts';

export type Step = (world: World) => Promise<void>;

/** States that refuse payments end more often than they begin, or nothing would ever be paid. */
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

export async function expectBalance({ model, api }: World, { who, mode }: Caller): Promise<void> {
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
    const { model, codes, api, clock } = world;
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
          ...{ status: 'processing', detail: null, error: null },
          ...{ day: dayOf(clock.nowMs()), openedMs: 0, nextMs: 0, tries: 0 },
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
    const { partnerId } = world.customers[who]!;
    const { outcome } = await topUp(world.audit, {
      partnerId,
      mode,
      reference,
      microUsdt: BigInt(microUsdt),
    });
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
  async ({ who, suspended }, { model, customers, untilApplied, audit }) => {
    await setSuspended(audit, customers[who]!.partnerId, suspended);
    model.partners[who]!.suspended = suspended;
    await untilApplied(who);
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
  async ({ who, ...limits }, { model, customers, untilApplied, audit }) => {
    const { maxKopecks, dailyKopecks, concurrent } = limits;
    await setLimits(audit, customers[who]!.partnerId, {
      concurrent,
      maxKopecks: BigInt(maxKopecks),
      dailyKopecks: dailyKopecks === null ? null : BigInt(dailyKopecks),
    });
    model.partners[who]!.limits = limits;
    await untilApplied(who);
  },
);

const maintain = call<{ on: boolean }>('maintain', { on: rarely }, async ({ on }, { model, audit }) => {
  await setMaintenance(audit, on);
  model.maintenance = on;
});

const block = call<{ mode: Mode; blocked: boolean }>(
  'block',
  { mode, blocked: rarely },
  async ({ mode, blocked }, { model, audit }) => {
    const recipient = recipientOf[mode];
    await (blocked ? blockRecipient(audit, recipient) : unblockRecipient(audit, recipient));
    if (blocked) model.blocked.add(recipient);
    else model.blocked.delete(recipient);
  },
);

const wait = call<{ ms: number }>(
  'wait',
  { ms: fc.constantFrom(1_999, 2_000, 5_000, 30_000, 30_000, 250_000, 50_400_000) },
  async ({ ms }, { model, clock, deps }) => {
    clock.advance(ms);
    await recoverDuePayments(deps);
    model.recover();
  },
);

const refresh = call<{ rate: null }>(
  'refresh',
  { rate: fc.constant(null) },
  async (_, { model, clock, pool }) => {
    await setRate(pool, clock);
    model.rateMs = clock.nowMs();
  },
);

/** One random call, of a partner or of the operator. */
export const step = fc.oneof(
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
