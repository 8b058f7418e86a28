import type { Id } from '../../src/base/ids.ts';
import { reEnable } from '../../src/webhooks/admin/check.ts';
import {
  addEndpoint,
  type EventKind,
  firstEndpointOf,
  maxEndpoints,
  moveWebhook,
  readSecrets,
  removeEndpoint,
  resendEvent,
  resendFailed,
  rotateSecret,
  setEvents,
  setWebhook,
} from '../../src/webhooks/index.ts';
import { createRandom } from '../helpers/random.ts';
import type { Account } from './accounts.ts';
import { createChainConnection } from './chain-connection.ts';
import type { History } from './histories.ts';
import { drawReceiver } from './receivers.ts';
import type { Endpoint } from './webhook-arrivals.ts';
import type { Webhooks } from './webhooks.ts';
import { type Actor, createAgenda, type World } from './world.ts';

interface WebhookAdminOptions extends Webhooks {
  accounts: Account[];
  history: History;
}

/** The check button: sending to an endpoint is enabled again, if it was suspended. */
async function enableEndpoint(
  { pool, scheduler, trace, violate }: World,
  { history, model, sending }: WebhookAdminOptions,
  { partnerId, endpointId }: Pick<Endpoint, 'partnerId' | 'endpointId'>,
): Promise<void> {
  const isSuspended = model.webhookOf(endpointId)!.suspended;
  const kept = model.waiting(endpointId);
  if (isSuspended) sending.sendKept(endpointId, kept);
  const audit = { pool, clock: scheduler.clockOf('webhook admin'), actor: 'operator' };
  const { url } = model.webhookOf(endpointId)!;
  const outcome = await reEnable(audit, { partnerId, endpointId, url });
  trace.add('webhook admin', `${endpointId} is ${outcome}`);
  if ((outcome === 're_enabled') !== isSuspended)
    violate('what is suspended can be enabled again, and nothing else', outcome);
  await history.database.webhooksChanged('operator');
}

/**
 * Partners and operators who set webhook addresses, rotate secrets, enable sending again and resend events. Each action
 * is one step: nothing else runs at the same time.
 */
export function createWebhookAdmin(world: World, options: WebhookAdminOptions): Actor {
  const { random, scheduler, pool, trace } = world;
  const { accounts, history, vault, arrivals, model, sending } = options;
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
    await history.database.webhooksChanged('operator');
  }

  async function rotate(partnerId: Id<'prt'>): Promise<void> {
    const outcome = await rotateSecret(audit, vault, partnerId, { force: random.chance(0.5) });
    await updateSecrets(partnerId);
    trace.add('webhook admin', `the secret of ${partnerId}: ${outcome}`);
    await history.database.webhooksChanged('operator');
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
    await history.database.webhooksChanged('operator');
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

/**
 * Partners who add further endpoints, change and remove them while events are sent. Each action is one step. What it draws comes from a
 * source of its own, so that runs without further endpoints stay as they are.
 */
export function createEndpointAdmin(world: World, seed: number, options: WebhookAdminOptions): Actor {
  const { scheduler, pool, trace, violate } = world;
  const { accounts, history, vault, arrivals } = options;
  const random = createRandom(seed + 700_000);
  const present: Endpoint[] = [];
  let added = 0;
  const agenda = createAgenda(world);
  let endsAfterMs = 0;
  // Ids begin with their time and are compared: of two endpoints the first one must have the smaller id in every run.
  const clock = { ...scheduler.clockOf('partner'), nowMs: () => scheduler.nowMs() + added };
  const audit = { pool, clock, actor: 'partner' };

  const drawEvents = () =>
    random.pick<EventKind[]>(
      world.script
        ? [['payment.succeeded', 'payment.failed']]
        : [
            ['payment.succeeded', 'payment.failed'],
            ['payment.succeeded', 'payment.failed', 'payment.refunded'],
            ['payment.succeeded'],
            ['payment.failed', 'payment.refunded'],
          ],
    );
  const newUrl = () => `https://shop.example/further/${added}/${random.between(0, 1_000_000)}`;

  async function updateSecrets({ partnerId, endpointId }: Endpoint): Promise<void> {
    arrivals.setSecrets(endpointId, await readSecrets(pool, vault, partnerId, clock.nowMs(), endpointId));
  }

  async function add(): Promise<void> {
    added += 1;
    const { partnerId } = world.script ? accounts[0]! : random.pick(accounts);
    const mode = world.script || random.chance(0.8) ? 'live' : 'test';
    const own = present.filter(one => one.partnerId === partnerId && one.mode === mode);
    const url = newUrl();
    const result = await addEndpoint(audit, vault, partnerId, { mode, url, events: drawEvents() });
    if ((result.outcome === 'too_many') !== (own.length === maxEndpoints - 1))
      violate('a partner has at most five endpoints in a mode', `${own.length + 1}: ${result.outcome}`);
    if (result.outcome !== 'added') return;
    const endpoint = { endpointId: result.endpointId, partnerId, mode } as const;
    present.push(endpoint);
    options.receivers.add(endpoint.endpointId, drawReceiver(world, endsAfterMs));
    arrivals.setAddress(endpoint, url);
    await updateSecrets(endpoint);
    trace.add('partner', `adds ${endpoint.endpointId}`);
  }

  const changes: ((endpoint: Endpoint) => Promise<unknown>)[] = [
    async endpoint => {
      present.splice(present.indexOf(endpoint), 1);
      arrivals.remove(endpoint.endpointId);
      await removeEndpoint(audit, endpoint);
    },
    endpoint => setEvents(audit, endpoint, drawEvents()),
    async endpoint => {
      const url = newUrl();
      arrivals.setAddress(endpoint, url);
      await moveWebhook(audit, endpoint, url);
    },
    async endpoint => {
      const { partnerId, endpointId } = endpoint;
      await rotateSecret(audit, vault, partnerId, { force: random.chance(0.5), endpointId });
      await updateSecrets(endpoint);
    },
    endpoint => enableEndpoint(world, options, endpoint),
    endpoint => enableEndpoint(world, options, endpoint),
  ];

  async function act(): Promise<void> {
    const endpoint = present.length > 0 && random.chance(0.6) ? random.pick(present) : undefined;
    const change = random.pick(changes);
    if (endpoint) trace.add('partner', `changes ${endpoint.endpointId}`);
    await (endpoint ? change(endpoint) : add());
    await history.database.webhooksChanged('operator');
  }

  async function enableAll(): Promise<void> {
    for (const endpoint of [...present]) await enableEndpoint(world, options, endpoint);
  }

  /** Two endpoints. The first one is removed when an event is sent to it, in a process that may die. */
  async function planScript(): Promise<void> {
    await add();
    await add();
    await history.database.webhooksChanged('operator');
    const [first] = present;
    const connection = createChainConnection(world, {
      ...{ random, processName: 'console', history },
      afterCommit: async () => {
        present.shift();
        arrivals.remove(first!.endpointId);
        await history.database.webhooksChanged('operator');
      },
    });
    world.points!.onReached = place => {
      if (place.startsWith('during send'))
        scheduler.after(0, { run: () => void removeEndpoint({ ...audit, pool: connection }, first!) });
    };
  }

  return {
    plan: async ({ faultsEndAfterMs }) => {
      if (world.script) return planScript();
      endsAfterMs = faultsEndAfterMs;
      for (let left = random.between(0, 2); left > 0; left--) await add();
      await history.database.webhooksChanged('operator');
      for (let left = random.between(4, 16); left > 0; left--)
        agenda.after(random.between(0, faultsEndAfterMs), act);
    },
    stopFaults: () => {
      if (random.chance(0.7)) agenda.after(random.between(0, 600_000), enableAll);
    },
    isDone: agenda.isEmpty,
  };
}
