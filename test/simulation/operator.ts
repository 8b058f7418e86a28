import type { Id } from '../../src/base/ids.ts';
import { decidePayment } from '../../src/payments/index.ts';
import type { Actor } from './actor.ts';
import type { Bank } from './bank.ts';
import type { SimulatedDatabase } from './database.ts';
import type { Model } from './model.ts';
import type { World } from './world.ts';

const cleansUpEveryMs = 20 * 60_000;

/** An operator who ends payments that nobody else can end, and sometimes one that should be left alone. */
export function createOperator(
  world: World,
  { database, bank, model }: { database: SimulatedDatabase; bank: Bank; model: Model },
): Actor {
  const { random, scheduler, pool, trace } = world;
  const audit = { pool, clock: scheduler.clockOf('operator'), actor: 'operator' };

  /** Mostly the real state at the bank. One transaction; nothing else runs at the same time. */
  async function resolve(paymentId: string): Promise<void> {
    const { truth } = bank.truthOf(paymentId);
    const known = truth === 'succeeded' ? 'succeeded' : 'failed';
    const outcome = random.chance(0.7) ? known : random.pick(['succeeded', 'failed'] as const);
    const before = model.find(paymentId)!.status;
    const result = await decidePayment(audit, paymentId as Id<'pay'>, {
      outcome,
      reason: 'decided by the simulation',
    });
    trace.add('operator', `${trace.nameOf(paymentId)} ${outcome}: ${result.outcome}`);
    if (result.outcome === 'resolved') model.markEndedByOperator(paymentId);
    const fits = before === 'processing' ? ['resolved', 'under_way'] : ['already_ended'];
    if (!fits.includes(result.outcome))
      world.violate('an operator ends what is unfinished, and nothing else', `${before}: ${result.outcome}`);
    await database.changed();
  }

  async function decide(): Promise<void> {
    const live = model.books.payments.filter(({ mode }) => mode === 'live');
    const unfinished = live.filter(({ status }) => status === 'processing');
    const choice = unfinished.length > 0 ? unfinished : live;
    if (choice.length > 0) await resolve(random.pick(choice).paymentId);
  }

  /** Only a person can decide a payment about which the bank side gave false answers. */
  async function cleanUp(): Promise<void> {
    for (const { paymentId, status } of model.books.payments)
      if (status === 'processing' && bank.hasLiedAbout(paymentId)) await resolve(paymentId);
    scheduler.after(cleansUpEveryMs, { run: cleanUp });
  }

  return {
    plan: ({ busyMs, faultsEndAfterMs }) => {
      for (let decisions = random.pick([0, 0, 2, 8]); decisions > 0; decisions--)
        scheduler.after(random.between(0, random.pick([busyMs, faultsEndAfterMs])), { run: decide });
    },
    stopFaults: () => void scheduler.after(cleansUpEveryMs, { run: cleanUp }),
  };
}
