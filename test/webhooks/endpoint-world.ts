import { expect } from 'vitest';
import type { Id } from '../../src/base/ids.ts';
import {
  addEndpoint,
  contractEvents,
  type EventKind,
  listAttempts,
  readSecrets,
} from '../../src/webhooks/index.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';
import { type DeliveryOptions, startDeliveryWorld } from './delivery-world.ts';

/** Partners with further endpoints, each with a receiver of its own. */
export async function startEndpointWorld(options: DeliveryOptions = {}) {
  const world = await startDeliveryWorld(options);
  const { pool, audit, vault, clock } = world;

  async function add(
    partnerId: Id<'prt'>,
    { mode = 'test' as 'live' | 'test', events = contractEvents as EventKind[] } = {},
  ) {
    const receiver = await startReceiver();
    const added = await addEndpoint(audit, vault, partnerId, { mode, url: receiver.url, events });
    if (added.outcome !== 'added') throw new Error(added.outcome);
    const { endpointId } = added;
    const secrets = () => readSecrets(pool, vault, partnerId, clock.nowMs(), endpointId);
    const attempts = () => listAttempts(pool, partnerId, 1_000, { endpointId });
    const untilRecorded = (count: number) =>
      clock.until(async () => expect(await attempts()).toHaveLength(count));
    const paymentsReceived = () => receiver.received.map(({ json }) => json.data.id);
    return { endpointId, receiver, secrets, attempts, untilRecorded, paymentsReceived };
  }

  return Object.assign(world, { add });
}
