import { idFromUuid } from '../../src/base/ids.ts';
import type { Vault } from '../../src/webhooks/delivery/secret.ts';
import { createVault } from '../../src/webhooks/index.ts';
import { secretKey } from '../helpers/customers.ts';
import type { Random } from '../helpers/random.ts';
import type { WebhookWatch } from './database.ts';
import { type Arrivals, createArrivals } from './hook-arrivals.ts';
import { readHookBooks } from './hook-books.ts';
import { createHookModel, type HookModel } from './hook-model.ts';
import { createSendingModel, eventIdOf, type SendingModel } from './hook-sending.ts';
import type { Model } from './model.ts';
import { createReceivers, type Receivers } from './receivers.ts';
import type { World } from './world.ts';

/** All that belongs to webhooks in a run. */
export interface Hooks {
  vault: Vault;
  pausesSec: number[];
  receivers: Receivers;
  arrivals: Arrivals;
  model: HookModel;
  sending: SendingModel;
  watch: WebhookWatch;
}

export interface HooksOptions {
  uuids: string[];
  model: Model;
  pausesSec: number[];
  isAlive(instance: number): boolean;
  /** It is dead or stood still at some time, so it may be late. */
  isExcused(owner: string): boolean;
}

const contractPausesSec = [0, 10, 30, 120, 300, 900, 3_600, 10_800, 21_600];
const shortPausesSec = [0, 1, 2, 1, 2, 3, 1, 2, 3];

/** With the pauses of the contract hardly anything is given up before all is well again. */
export const drawPausesSec = (random: Random) => (random.chance(0.8) ? shortPausesSec : contractPausesSec);

export function createHooks(world: World, options: HooksOptions): Hooks {
  const { pausesSec, isAlive, isExcused } = options;
  const sending = createSendingModel(world, { model: () => model, isAlive, isExcused });
  const model = createHookModel(world, { pausesSec, isAlive, onOwnerChange: sending.ownerChanges });
  const arrivals = createArrivals(world, { model: options.model, isExcused });
  const receivers = createReceivers(world, {
    partnerOf: arrivals.partnerOf,
    onSend: sending.send,
    onArrival: arrivals.check,
    onVerdict: (sent, verdict) => {
      sending.end(sent, verdict.outcome === 'answered' || verdict.error !== 'busy');
      model.heard(eventIdOf(sent.sending), verdict);
    },
  });
  let lastAttempt = 0;
  const watch: WebhookWatch = {
    onChange: async by => {
      const books = await readHookBooks(world.pool, options.uuids, lastAttempt);
      lastAttempt = books.attempts.at(-1)?.id ?? lastAttempt;
      model.observe(books, by);
    },
    onRead: (owner, rows) => {
      for (const row of rows) sending.read(owner, idFromUuid('prt', row.partner_id), `${row.event_id}`);
    },
    onRecordingFailed: (owner, eventIds) => {
      for (const eventId of eventIds) sending.recordingFailed(owner, `${eventId}`);
    },
    firstDueMs: () =>
      Math.min(...model.books.deliveries.map(({ nextMs, givenUp }) => (givenUp ? Infinity : nextMs))),
    isServing: instance => model.books.webhooks.some(({ owner }) => owner === instance),
    nextDueMs: sending.nextDueMs,
  };
  return { vault: createVault(secretKey), pausesSec, receivers, arrivals, model, sending, watch };
}
