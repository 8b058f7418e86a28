import type { Id } from '../../src/base/ids.ts';
import { reEnable } from '../../src/webhooks/admin/webhook.ts';
import type { Vault } from '../../src/webhooks/delivery/secret.ts';
import {
  readSecrets,
  resendEvent,
  resendFailed,
  rotateSecret,
  setWebhook,
} from '../../src/webhooks/index.ts';
import type { Account } from './accounts.ts';
import type { Actor } from './actor.ts';
import type { SimulatedDatabase } from './database.ts';
import type { Arrivals } from './hook-arrivals.ts';
import type { HookModel } from './hook-model.ts';
import type { SendingModel } from './hook-sending.ts';
import { drawReceiver, type Receivers } from './receivers.ts';
import type { World } from './world.ts';

export interface HookDeskOptions {
  accounts: Account[];
  database: SimulatedDatabase;
  vault: Vault;
  receivers: Receivers;
  arrivals: Arrivals;
  model: HookModel;
  sending: SendingModel;
}

/** Sets webhooks, and does all that people may do about them. Each is one step: nothing else happens meanwhile. */
export function createHookDesk(world: World, options: HookDeskOptions): Actor {
  const { random, scheduler, pool, trace } = world;
  const { accounts, database, vault, arrivals, model, sending } = options;
  const audit = { pool, clock: scheduler.clockOf('desk'), actor: 'operator' };
  const hooked: Id<'prt'>[] = [];
  let addresses = 0;
  let busy = 0;

  async function learnSecrets(partnerId: Id<'prt'>): Promise<void> {
    arrivals.setSecrets(partnerId, await readSecrets(pool, vault, partnerId, scheduler.nowMs()));
  }

  async function setAddress(partnerId: Id<'prt'>): Promise<void> {
    addresses += 1;
    const url = `https://shop.example/hooks/${addresses}`;
    await setWebhook(audit, vault, partnerId, url);
    arrivals.setAddress(partnerId, url);
    await learnSecrets(partnerId);
    if (!hooked.includes(partnerId)) hooked.push(partnerId);
    trace.add('desk', `${trace.nameOf(partnerId)} has address ${addresses}`);
    await database.hooksChanged('operator');
  }

  async function rotate(partnerId: Id<'prt'>): Promise<void> {
    const outcome = await rotateSecret(audit, vault, partnerId, { force: random.chance(0.5) });
    await learnSecrets(partnerId);
    trace.add('desk', `the secret of ${trace.nameOf(partnerId)}: ${outcome}`);
    await database.hooksChanged('operator');
  }

  async function wake(partnerId: Id<'prt'>): Promise<void> {
    const isSuspended = model.webhookOf(partnerId)!.suspended;
    const kept = model.waiting(partnerId);
    if (isSuspended) {
      sending.startsAnew(kept);
      sending.keptGoOut(partnerId, kept);
    }
    const outcome = await reEnable(audit, partnerId);
    trace.add('desk', `${trace.nameOf(partnerId)} is ${outcome}`);
    if ((outcome === 're_enabled') !== isSuspended)
      world.violate('what is suspended can be enabled again, and nothing else', outcome);
    await database.hooksChanged('operator');
  }

  async function resend(): Promise<void> {
    if (random.chance(0.3)) {
      sending.startsAnew(model.books.deliveries.filter(row => row.givenUp).map(row => row.eventId));
      const count = await resendFailed(audit, new Date(0), () => {});
      trace.add('desk', `sends ${count} again`);
    } else if (model.books.events.length > 0) {
      const { eventId } = random.pick(model.books.events);
      sending.startsAnew([eventId]);
      const { outcome } = await resendEvent(audit, BigInt(eventId));
      trace.add('desk', `${trace.nameOf(`evt_${eventId}`)} again: ${outcome}`);
    }
    await database.hooksChanged('operator');
  }

  function decide(): Promise<void> {
    const partnerId = random.pick(hooked);
    return random.pick([resend, resend, () => rotate(partnerId), () => setAddress(partnerId)])();
  }

  /** Whoever is suspended has itself checked some time, mostly. */
  async function wakeSuspended(): Promise<void> {
    for (const partnerId of hooked) if (random.chance(0.7)) await wake(partnerId);
  }

  function later(delayMs: number, act: () => Promise<void>): void {
    busy += 1;
    const run = async () => {
      busy -= 1;
      await act();
    };
    scheduler.after(delayMs, { run });
  }

  return {
    plan: async ({ calmAfterMs }) => {
      for (const { partnerId } of accounts) {
        options.receivers.add(partnerId, drawReceiver(world, calmAfterMs));
        if (hooked.length === 0 || random.chance(0.6)) await setAddress(partnerId);
        else later(random.between(0, calmAfterMs), () => setAddress(partnerId));
      }
      for (let acts = random.pick([0, 1, 4]); acts > 0; acts--) later(random.between(0, calmAfterMs), decide);
      for (let visits = random.pick([0, 2, 5]); visits > 0; visits--)
        later(random.between(0, calmAfterMs), wakeSuspended);
    },
    becomeCalm: () => {
      options.receivers.becomeCalm();
      later(random.between(0, 600_000), wakeSuspended);
    },
    isContent: () => busy === 0 && !model.hasWork(),
  };
}
