/** The process that sends to an endpoint, or the one that removes it, is killed meanwhile. */
import { expect, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import {
  addEndpoint,
  contractEvents,
  createVault,
  listWebhooks,
  removeEndpoint,
  setWebhook,
} from '../../src/webhooks/index.ts';
import { startKopeck } from '../helpers/cli.ts';
import { auditContextOf, keyring } from '../helpers/partners.ts';
import { hanging, type Receiver, startReceiver, withStatus } from '../helpers/webhook-receiver.ts';
import { paidAt, startAdditionsWorld } from './additions-world.ts';
import { until } from './world.ts';

const world = await startAdditionsWorld();
const { pool } = world;
const [customer] = world.customers;
const { partnerId } = customer!;
const audit = auditContextOf(pool);
const vault = createVault(keyring);
const timeout = 180_000;

const first = await startReceiver();
await setWebhook(audit, vault, partnerId, first.url);

async function add(): Promise<{ receiver: Receiver; endpointId: Id<'whe'> }> {
  const receiver = await startReceiver();
  const wanted = { mode: 'live', url: receiver.url, events: contractEvents } as const;
  const added = await addEndpoint(audit, vault, partnerId, wanted);
  if (added.outcome !== 'added') throw new Error(added.outcome);
  return { receiver, endpointId: added.endpointId };
}

const untilGot = (receiver: Receiver, paymentId: string) =>
  until(
    () => receiver.received.some(({ json }) => json.data.id === paymentId),
    60_000,
    () => `${paymentId} has not arrived`,
  );

test('killed while it sends to an endpoint that is removed: nothing more is sent to it', {
  timeout,
}, async () => {
  const { receiver, endpointId } = await add();
  const other = await add();
  receiver.answer(hanging);
  const service = await world.start();
  const { paymentId } = await paidAt(world, service);
  await untilGot(receiver, paymentId);
  expect(await removeEndpoint(audit, { partnerId, endpointId })).toBe('removed');
  const before = receiver.received.length;
  await service.stop('SIGKILL');

  const next = await world.start();
  const { paymentId: later } = await paidAt(world, next);
  for (const one of [first, other.receiver]) {
    await untilGot(one, paymentId);
    await untilGot(one, later);
  }
  expect(receiver.received).toHaveLength(before);
  const outbox = 'SELECT FROM further_deliveries WHERE endpoint_id = $1';
  expect((await pool.query(outbox, [uuidFromId(endpointId)])).rowCount).toBe(0);
  await next.stop('SIGKILL');
});

test('a removal that is killed before or after its statement has removed nothing, and no event is lost', {
  timeout,
}, async () => {
  const removals = [
    { point: 'before remove endpoint', ...(await add()) },
    { point: 'after remove endpoint', ...(await add()) },
  ];
  for (const { receiver } of removals) receiver.answer(withStatus(500));
  const service = await world.start();
  const { attempt, paymentId } = await paidAt(world, service);
  for (const { receiver } of removals) await untilGot(receiver, paymentId);
  await service.stop('SIGKILL');

  for (const { point, endpointId } of removals) {
    await world.setPoints(new Map([[attempt, point]]));
    const removal = startKopeck(world.env, 'webhook', 'remove', partnerId, '--endpoint', endpointId);
    await until(
      () => removal.stdout().includes('crash point reached'),
      60_000,
      () => removal.stderr(),
    );
    await removal.stop('SIGKILL');
  }

  for (const { receiver } of removals) {
    receiver.answer(withStatus(200));
    receiver.received.length = 0;
  }
  const next = await world.start();
  // Sent again.
  for (const { receiver } of removals) await untilGot(receiver, paymentId);
  const { paymentId: later } = await paidAt(world, next);
  for (const { receiver } of removals) await untilGot(receiver, later);
  const kept = (await listWebhooks(pool, partnerId)).map(one => one.endpointId);
  expect(kept).toEqual(expect.arrayContaining(removals.map(one => one.endpointId)));
});
