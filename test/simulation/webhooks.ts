import { idFromUuid, uuidFromId } from '../../src/base/ids.ts';
import type { PaymentSignals } from '../../src/payments/index.ts';
import { leaseLoopsMs } from '../../src/webhooks/delivery/leases.ts';
import { type DeliveryDeps, readLoopMs, startDelivery } from '../../src/webhooks/delivery/worker.ts';
import { createVault } from '../../src/webhooks/index.ts';
import { keyring } from '../helpers/partners.ts';
import type { Random } from '../helpers/random.ts';
import type { WebhookWatch } from './database.ts';
import type { Model } from './model.ts';
import { createReceivers } from './receivers.ts';
import { createArrivals } from './webhook-arrivals.ts';
import { type BookedEvent, readWebhookBooks } from './webhook-books.ts';
import { createWebhookModel } from './webhook-model.ts';
import { createSendingModel, eventIdOf } from './webhook-sending.ts';
import type { World } from './world.ts';

export interface WebhooksOptions {
  uuids: string[];
  model: Model;
  /** Of refunds that are on record. */
  refundEvents(): BookedEvent[];
  pausesSec: number[];
  isAlive(instance: number): boolean;
  /** It is dead or has stalled at some time, so it may be late. */
  isExcused(processName: string): boolean;
}

const contractPausesSec = [0, 10, 30, 120, 300, 900, 3_600, 10_800, 21_600];
const shortPausesSec = [0, 1, 2, 1, 2, 3, 1, 2, 3];

/** With the retry schedule of the contract, hardly any event is given up before fault injection stops. */
export const drawPausesSec = (random: Random) => (random.chance(0.8) ? shortPausesSec : contractPausesSec);

export function createWebhooks(world: World, options: WebhooksOptions) {
  const { pausesSec, isAlive, isExcused } = options;
  const sending = createSendingModel(world, { model: () => model, isAlive, isExcused });
  const model = createWebhookModel(world, { pausesSec, isAlive, onLeaseChange: sending.leaseChanges });
  const arrivals = createArrivals(world, { model: options.model, isExcused });
  const receivers = createReceivers(world, {
    endpointOf: arrivals.endpointOf,
    onSend: sending.send,
    onArrival: arrivals.check,
    onVerdict: (sent, verdict) => {
      sending.end(sent, verdict.outcome === 'answered' || verdict.error !== 'busy');
      model.received({ endpointId: sent.endpointId, eventId: eventIdOf(sent.sending) }, verdict);
    },
  });
  const lastAttempts = new Map(options.uuids.map(uuid => [uuid, 0]));
  const eventsNow = (): BookedEvent[] =>
    [
      ...options.model.books.payments.flatMap(({ eventId, partnerId, mode, status }) =>
        eventId === null ? [] : [{ eventId, partnerId, mode, kind: `payment.${status}` }],
      ),
      ...options.refundEvents(),
    ].sort((a, b) => (BigInt(a.eventId) < BigInt(b.eventId) ? -1 : 1));

  const watch: WebhookWatch = {
    onChange: async by => {
      const books = await readWebhookBooks(world.pool, lastAttempts);
      for (const { partnerId, id } of books.attempts) lastAttempts.set(uuidFromId(partnerId), id);
      model.observe({ ...books, events: eventsNow() }, by);
    },
    onRead: (processName, rows) => {
      for (const { endpoint, event_id } of rows)
        sending.read(processName, { endpointId: idFromUuid('whe', endpoint), eventId: `${event_id}` });
    },
    onRecordingFailed: (processName, uuids, eventIds) => {
      for (const [nth, uuid] of uuids.entries())
        sending.recordingFailed(processName, {
          endpointId: idFromUuid('whe', uuid),
          eventId: `${eventIds[nth]}`,
        });
    },
    nextDueMs: sending.nextDueMs,
  };
  return { vault: createVault(keyring), pausesSec, receivers, arrivals, model, sending, watch };
}

/** The simulated webhooks of a run. */
export type Webhooks = ReturnType<typeof createWebhooks>;

/** The pauses of the real delivery in which it polls. */
export const sendingEveryMs = [...Object.values(leaseLoopsMs), ...Object.values(readLoopMs)];

/** The delivery of a process, woken by the end of a payment as in the service. */
export function startSending(
  { points }: World,
  { vault, receivers, pausesSec }: Webhooks,
  processName: string,
  deps: Omit<DeliveryDeps, 'vault' | 'sender' | 'webhookRetryScheduleSec'> & { signals: PaymentSignals },
): void {
  const sender = receivers.portOf(processName);
  const { send } = sender;
  if (points)
    sender.send = async sending => {
      const sent = send(sending);
      await points.at(processName, `during send to ${/\w+\/\d+/.exec(sending.url)}`)?.();
      return sent;
    };
  const delivery = startDelivery({ ...deps, vault, sender, webhookRetryScheduleSec: pausesSec });
  deps.signals.eventWritten.subscribe(delivery.runNow);
}
