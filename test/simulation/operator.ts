import type { Id } from '../../src/base/ids.ts';
import { transaction } from '../../src/db/postgres/pool.ts';
import { credit } from '../../src/ledger/index.ts';
import { decidePayment, listStray, releaseStray } from '../../src/payments/index.ts';
import { openReference } from '../../src/payments/order-reference.ts';
import type { Bank } from './bank.ts';
import type { Histories } from './histories.ts';
import { references } from './past.ts';
import type { Actor, World } from './world.ts';

const cleansUpEveryMs = 20 * 60_000;
const settlesEveryMs = 2 * 60_000;
const topUpMicroUsdt = 20_000_000;

/** An operator who ends payments that nobody else can end, and sometimes one that should be left alone. */
export function createOperator(
  world: World,
  { histories, bank }: { histories: Histories; bank: Bank },
): Actor {
  const { random, scheduler, pool, trace } = world;
  let topUps = 0;
  const audit = { pool, clock: scheduler.clockOf('operator'), actor: 'operator' };

  /** Mostly the real state at the bank. One transaction; nothing else runs at the same time. */
  async function resolve(paymentId: string): Promise<void> {
    const { model, database } = histories.current();
    const { truth } = bank.truthOf(paymentId);
    const known = truth === 'succeeded' ? 'succeeded' : 'failed';
    const outcome = random.chance(0.7) ? known : random.pick(['succeeded', 'failed'] as const);
    const before = model.find(paymentId)!.status;
    const result = await decidePayment(audit, paymentId as Id<'pay'>, {
      outcome,
      reason: 'decided by the simulation',
    });
    trace.add('operator', `${paymentId} ${outcome}: ${result.outcome}`);
    if (result.outcome === 'resolved') model.markEndedByOperator(paymentId);
    const fits = before === 'processing' ? ['resolved', 'under_way'] : ['already_ended'];
    if (!fits.includes(result.outcome))
      world.violate('an operator ends what is unfinished, and nothing else', `${before}: ${result.outcome}`);
    await database.changed();
  }

  /** Through a process, which has joined the history. */
  async function decide(): Promise<void> {
    if (histories.mayGoBack && !histories.current().isJoined) return;
    const live = histories.current().model.books.payments.filter(({ mode }) => mode === 'live');
    const unfinished = live.filter(({ status }) => status === 'processing');
    const choice = unfinished.length > 0 ? unfinished : live;
    if (choice.length > 0) await resolve(random.pick(choice).paymentId);
  }

  /** Only a person can decide a payment about which the bank side gave false answers. */
  async function cleanUp(): Promise<void> {
    for (const { paymentId, status } of histories.current().model.books.payments)
      if (status === 'processing' && bank.hasLiedAbout(paymentId)) await resolve(paymentId);
    scheduler.after(cleansUpEveryMs, { run: cleanUp });
  }

  /** The money of a payment that an operator had ended is held again, so that of a later one is missing. */
  async function topUp(payment: Id<'pay'>): Promise<void> {
    const { partnerId } = openReference(bank.truthOf(payment).reference!, references, payment)!;
    topUps += 1;
    const funding = { partnerId, reference: `top-up ${topUps}` };
    const item = { ...funding, mode: 'live', microUsdt: BigInt(topUpMicroUsdt) } as const;
    await transaction(pool, tx => credit(tx, audit.clock, [item]));
    histories.current().model.toppedUp(partnerId, topUpMicroUsdt);
    trace.add('operator', `tops up ${partnerId}`);
  }

  /**
   * Orders without a payment: they need money, or have paid nothing and need no payment. One that waits for the end of an
   * earlier payment is rebuilt then.
   */
  async function settleStray(): Promise<void> {
    scheduler.after(settlesEveryMs, { run: settleStray });
    if (!histories.current().isJoined) return;
    for (const { payment, why } of await listStray(pool)) {
      if (why === 'insufficient_balance') await topUp(payment as Id<'pay'>);
      else if (why !== 'qr_in_flight' && bank.truthOf(payment).truth === 'declined')
        await releaseStray(audit, payment, 'not paid');
      else continue;
      await histories.current().database.changed();
    }
  }

  return {
    plan: ({ busyMs, faultsEndAfterMs }) => {
      for (let decisions = random.pick([0, 0, 2, 8]); decisions > 0; decisions--)
        scheduler.after(random.between(0, random.pick([busyMs, faultsEndAfterMs])), { run: decide });
      if (histories.mayGoBack) scheduler.after(settlesEveryMs, { run: settleStray });
    },
    stopFaults: () => {
      scheduler.after(cleansUpEveryMs, { run: cleanUp });
    },
  };
}
