import { idFromUuid, uuidFromId } from '../../src/base/ids.ts';
import type { Vault } from '../../src/webhooks/delivery/secret.ts';
import { createVault } from '../../src/webhooks/index.ts';
import { keyring } from '../helpers/partners.ts';
import type { Random } from '../helpers/random.ts';
import type { WebhookWatch } from './database.ts';
import type { Model } from './model.ts';
import { createReceivers, type Receivers } from './receivers.ts';
import { type Arrivals, createArrivals } from './webhook-arrivals.ts';
import { type BookedWebhook, readWebhookBooks } from './webhook-books.ts';
import { createWebhookModel, type WebhookModel } from './webhook-model.ts';
import { createSendingModel, eventIdOf, type SendingModel } from './webhook-sending.ts';
import type { World } from './world.ts';

/** The simulated webhooks of a run. */
export interface Webhooks {
  vault: Vault;
  pausesSec: number[];
  receivers: Receivers;
  arrivals: Arrivals;
  model: WebhookModel;
  sending: SendingModel;
  watch: WebhookWatch;
}

export interface WebhooksOptions {
  uuids: string[];
  model: Model;
  pausesSec: number[];
  isAlive(instance: number): boolean;
  /** It is dead or has stalled at some time, so it may be late. */
  isExcused(processName: string): boolean;
}

const contractPausesSec = [0, 10, 30, 120, 300, 900, 3_600, 10_800, 21_600];
const shortPausesSec = [0, 1, 2, 1, 2, 3, 1, 2, 3];

/** With the retry schedule of the contract, hardly any event is given up before fault injection stops. */
export const drawPausesSec = (random: Random) => (random.chance(0.8) ? shortPausesSec : contractPausesSec);

export function createWebhooks(world: World, options: WebhooksOptions): Webhooks {
  const { pausesSec, isAlive, isExcused } = options;
  const sending = createSendingModel(world, { model: () => model, isAlive, isExcused });
  const model = createWebhookModel(world, { pausesSec, isAlive, onLeaseChange: sending.leaseChanges });
  const arrivals = createArrivals(world, { model: options.model, isExcused });
  const receivers = createReceivers(world, {
    partnerOf: arrivals.partnerOf,
    onSend: sending.send,
    onArrival: arrivals.check,
    onVerdict: (sent, verdict) => {
      sending.end(sent, verdict.outcome === 'answered' || verdict.error !== 'busy');
      model.received(eventIdOf(sent.sending), verdict);
    },
  });
  const lastAttempts = new Map(options.uuids.map(uuid => [uuid, 0]));
  const isFree = ({ leaseHolder, leasedUntilMs }: BookedWebhook, atMs: number, deadHolders: number[]) =>
    leaseHolder === null || leasedUntilMs! <= atMs || deadHolders.includes(leaseHolder);
  const dueOf = ({ partnerId, suspended }: BookedWebhook, atMs: number) =>
    model.books.deliveries.filter(
      row => !suspended && row.partnerId === partnerId && !row.givenUp && row.nextMs <= atMs,
    );
  const watch: WebhookWatch = {
    onChange: async by => {
      const books = await readWebhookBooks(world.pool, lastAttempts);
      for (const { partnerId, id } of books.attempts) lastAttempts.set(uuidFromId(partnerId), id);
      model.observe(books, by);
    },
    onRead: (processName, rows) => {
      for (const row of rows) sending.read(processName, idFromUuid('prt', row.partner_id), `${row.event_id}`);
    },
    onRecordingFailed: (processName, eventIds) => {
      for (const eventId of eventIds) sending.recordingFailed(processName, `${eventId}`);
    },
    canAcquire: (atMs, deadHolders) =>
      model.books.webhooks.some(
        webhook => isFree(webhook, atMs, deadHolders) && dueOf(webhook, atMs).length > 0,
      ),
    hasDue: (instance, atMs, except) =>
      model.books.webhooks.some(
        webhook =>
          webhook.leaseHolder === instance &&
          dueOf(webhook, atMs).some(({ eventId }) => !except.includes(eventId)),
      ),
    isServing: instance => model.books.webhooks.some(({ leaseHolder }) => leaseHolder === instance),
    nextDueMs: sending.nextDueMs,
  };
  return { vault: createVault(keyring), pausesSec, receivers, arrivals, model, sending, watch };
}
