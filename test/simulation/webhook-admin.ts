import type { Id } from '../../src/base/ids.ts';
import { reEnable } from '../../src/webhooks/admin/re-enable.ts';
import type { Vault } from '../../src/webhooks/delivery/secret.ts';
import {
  firstEndpointOf,
  readSecrets,
  resendEvent,
  resendFailed,
  rotateSecret,
  setWebhook,
} from '../../src/webhooks/index.ts';
import type { Account } from './accounts.ts';
import type { SimulatedDatabase } from './database.ts';
import type { History } from './histories.ts';
import { drawReceiver, type Receivers } from './receivers.ts';
import type { Arrivals, Endpoint } from './webhook-arrivals.ts';
import type { WebhookModel } from './webhook-model.ts';
import type { SendingModel } from './webhook-sending.ts';
import { type Actor, createAgenda, type World } from './world.ts';

export interface WebhookAdminOptions {
  accounts: Account[];
  history: History;
  database: SimulatedDatabase;
  vault: Vault;
  receivers: Receivers;
  arrivals: Arrivals;
  model: WebhookModel;
  sending: SendingModel;
}

/** The check button: sending to an endpoint is enabled again, if it was suspended. */
export async function enableEndpoint(
  { pool, scheduler, trace, violate }: World,
  { database, model, sending }: Pick<WebhookAdminOptions, 'database' | 'model' | 'sending'>,
  { partnerId, endpointId }: Pick<Endpoint, 'partnerId' | 'endpointId'>,
): Promise<void> {
  const isSuspended = model.webhookOf(endpointId)!.suspended;
  const kept = model.waiting(endpointId);
  if (isSuspended) {
    sending.restartSchedule(kept);
    sending.sendKept(
      endpointId,
      kept.map(({ eventId }) => eventId),
    );
  }
  const audit = { pool, clock: scheduler.clockOf('webhook admin'), actor: 'operator' };
  const { url } = model.webhookOf(endpointId)!;
  const outcome = await reEnable(audit, { partnerId, endpointId, url });
  trace.add('webhook admin', `${endpointId} is ${outcome}`);
  if ((outcome === 're_enabled') !== isSuspended)
    violate('what is suspended can be enabled again, and nothing else', outcome);
  await database.webhooksChanged('operator');
}

/**
 * Partners and operators who set webhook addresses, rotate secrets, enable sending again and resend events. Each action
 * is one step: nothing else runs at the same time.
 */
export function createWebhookAdmin(world: World, options: WebhookAdminOptions): Actor {
  const { random, scheduler, pool, trace } = world;
  const { accounts, database, vault, arrivals, model, sending } = options;
  const audit = { pool, clock: scheduler.clockOf('webhook admin'), actor: 'operator' };
  const partnersWithWebhook: Id<'prt'>[] = [];
  let addresses = 0;
  const agenda = createAgenda(world);

  async function updateSecrets(partnerId: Id<'prt'>): Promise<void> {
    arrivals.setSecrets(
      firstEndpointOf(partnerId),
      await readSecrets(pool, vault, partnerId, scheduler.nowMs()),
    );
  }

  async function setAddress(partnerId: Id<'prt'>): Promise<void> {
    addresses += 1;
    const url = `https://shop.example/hooks/${addresses}`;
    await setWebhook(audit, vault, partnerId, url);
    arrivals.setAddress({ endpointId: firstEndpointOf(partnerId), partnerId, mode: null }, url);
    await updateSecrets(partnerId);
    if (!partnersWithWebhook.includes(partnerId)) partnersWithWebhook.push(partnerId);
    trace.add('webhook admin', `${partnerId} has address ${addresses}`);
    await database.webhooksChanged('operator');
  }

  async function rotate(partnerId: Id<'prt'>): Promise<void> {
    const outcome = await rotateSecret(audit, vault, partnerId, { force: random.chance(0.5) });
    await updateSecrets(partnerId);
    trace.add('webhook admin', `the secret of ${partnerId}: ${outcome}`);
    await database.webhooksChanged('operator');
  }

  async function enableAgain(partnerId: Id<'prt'>): Promise<void> {
    await enableEndpoint(world, options, { partnerId, endpointId: firstEndpointOf(partnerId) });
  }

  async function resend(): Promise<void> {
    if (random.chance(0.3)) {
      sending.restartSchedule(model.books.deliveries.filter(row => row.givenUp));
      const count = await resendFailed(audit, new Date(0), () => {});
      trace.add('webhook admin', `sends ${count} again`);
    } else if (model.books.events.length > 0) {
      const { eventId, partnerId, mode } = random.pick(model.books.events);
      const endpoints = model.books.webhooks.filter(
        webhook => webhook.partnerId === partnerId && (webhook.mode ?? mode) === mode,
      );
      const endpoint = endpoints.length > 1 ? random.pick(endpoints) : endpoints[0];
      if (endpoint) sending.restartSchedule([{ endpointId: endpoint.endpointId, eventId }]);
      const { outcome } = await resendEvent(audit, BigInt(eventId), { endpointId: endpoint?.endpointId });
      trace.add('webhook admin', `evt_${eventId} again: ${outcome}`);
    }
    await database.webhooksChanged('operator');
  }

  function decide(): Promise<void> {
    const partnerId = random.pick(partnersWithWebhook);
    return random.pick([resend, resend, () => rotate(partnerId), () => setAddress(partnerId)])();
  }

  /** Most suspended partners check their receiver and enable sending again at some time. */
  async function enableSuspended(): Promise<void> {
    for (const partnerId of partnersWithWebhook) if (random.chance(0.7)) await enableAgain(partnerId);
  }

  return {
    plan: async ({ faultsEndAfterMs }) => {
      for (const { partnerId } of accounts) {
        options.receivers.add(firstEndpointOf(partnerId), drawReceiver(world, faultsEndAfterMs));
        if (partnersWithWebhook.length === 0 || random.chance(0.6)) await setAddress(partnerId);
        else agenda.after(random.between(0, faultsEndAfterMs), () => setAddress(partnerId));
      }
      for (let acts = random.pick([0, 1, 4]); acts > 0; acts--)
        agenda.after(random.between(0, faultsEndAfterMs), decide);
      for (let visits = random.pick([0, 2, 5]); visits > 0; visits--)
        agenda.after(random.between(0, faultsEndAfterMs), enableSuspended);
    },
    stopFaults: () => {
      options.receivers.stopFaults();
      agenda.after(random.between(0, 600_000), enableSuspended);
    },
    isDone: () => agenda.isEmpty() && !model.hasWork(),
  };
}
