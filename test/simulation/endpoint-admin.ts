import {
  addEndpoint,
  type EventKind,
  maxEndpoints,
  moveWebhook,
  readSecrets,
  removeEndpoint,
  rotateSecret,
  setEvents,
} from '../../src/webhooks/index.ts';
import { createRandom } from '../helpers/random.ts';
import { createChainConnection } from './chain-connection.ts';
import { drawReceiver } from './receivers.ts';
import { enableEndpoint, type WebhookAdminOptions } from './webhook-admin.ts';
import type { Endpoint } from './webhook-arrivals.ts';
import { type Actor, createAgenda, type World } from './world.ts';

/**
 * Partners who add further endpoints, change and remove them while events are sent. Each action is one step. What it draws comes from a
 * source of its own, so that runs without further endpoints stay as they are.
 */
export function createEndpointAdmin(world: World, seed: number, options: WebhookAdminOptions): Actor {
  const { scheduler, pool, trace, violate } = world;
  const { accounts, database, vault, arrivals } = options;
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
    await database.webhooksChanged('operator');
  }

  async function enableAll(): Promise<void> {
    for (const endpoint of [...present]) await enableEndpoint(world, options, endpoint);
  }

  /** Two endpoints. The first one is removed when an event is sent to it, in a process that may die. */
  async function planScript(): Promise<void> {
    await add();
    await add();
    await database.webhooksChanged('operator');
    const [first] = present;
    const connection = createChainConnection(world, {
      ...{ random, processName: 'console', history: options.history },
      afterCommit: async () => {
        present.shift();
        arrivals.remove(first!.endpointId);
        await database.webhooksChanged('operator');
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
      await database.webhooksChanged('operator');
      for (let left = random.between(4, 16); left > 0; left--)
        agenda.after(random.between(0, faultsEndAfterMs), act);
    },
    stopFaults: () => {
      if (random.chance(0.7)) agenda.after(random.between(0, 600_000), enableAll);
    },
    isDone: agenda.isEmpty,
  };
}
