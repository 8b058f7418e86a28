import { expect, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { createRecorder } from '../../src/webhooks/delivery/recorder.ts';
import {
  addEndpoint,
  checkPartner,
  contractEvents,
  findWebhook,
  firstEndpointOf,
  moveWebhook,
  readSecrets,
  removeEndpoint,
  rotateSecret,
  setEvents,
  setWebhook,
} from '../../src/webhooks/index.ts';
import { keyring } from '../helpers/api.ts';
import { auditContextOf, createFundedPartner } from '../helpers/database.ts';
import { follow, holdLocks } from '../helpers/locks.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';
import { startEndpointWorld } from './endpoint-world.ts';

const { pool, url, clock, audit, vault, sender, newPartner, suspend } = await startEndpointWorld();

test('of two rotations at once one is refused: the secret that the receiver has stays valid', async () => {
  for (let round = 0; round < 5; round++) {
    const { partnerId } = await newPartner();
    const secretsNow = () => readSecrets(pool, vault, partnerId, clock.nowMs());
    const [known] = await secretsNow();
    const outcomes = await Promise.all([1, 2, 3].map(() => rotateSecret(audit, vault, partnerId)));
    expect(outcomes.toSorted()).toEqual(['overlap', 'overlap', 'rotated']);
    expect(await secretsNow()).toContain(known);
  }
});

test('of two first endpoints at once one is refused, and of two URLs the second knows of the first', async () => {
  const urlOf = (nth: number) => `https://shop.example/${nth}`;
  const partnerId = await createFundedPartner(pool, 0n);
  const outcomes = await Promise.all(
    [1, 2].map(nth => setWebhook(audit, vault, partnerId, urlOf(nth), { isNew: true })),
  );
  expect(outcomes.toSorted()).toEqual(['exists', 'set']);
  await Promise.all([3, 4, 5].map(nth => setWebhook(audit, vault, partnerId, urlOf(nth))));
  const { rows } = await pool.query(
    `SELECT before->>'url' AS before, after->>'url' AS after FROM audit
      WHERE action = 'webhook.set' AND subject = $1 ORDER BY id`,
    [partnerId],
  );
  expect(rows.map(({ before }) => before)).toEqual([null, ...rows.slice(0, -1).map(({ after }) => after)]);
});

test('an endpoint that is removed at the same time is not moved', async () => {
  for (let round = 0; round < 5; round++) {
    const { partnerId, endpoint } = await newPartner();
    const [moved] = await Promise.all([
      moveWebhook(audit, endpoint, 'https://shop.example/moved'),
      removeEndpoint(audit, endpoint),
    ]);
    const { rows } = await pool.query(
      `SELECT action FROM audit WHERE subject = $1 AND action IN ('webhook.set', 'webhook.remove')
        ORDER BY id DESC LIMIT 1`,
      [partnerId],
    );
    expect(rows, moved).toEqual([{ action: 'webhook.remove' }]);
  }
});

test('a check of the URL before does not enable the new one, and is not taken for its check', async () => {
  const { partnerId, endpoint, receiver } = await newPartner();
  await suspend(endpoint.endpointId);
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  receiver.answer(async response => {
    asked.resolve();
    await held.promise;
    response.writeHead(200).end();
  });
  const check = () => checkPartner({ audit, sender, vault, keyring }, partnerId);
  const first = check();
  await asked.promise;
  const next = await startReceiver();
  next.answer(async response => void response.writeHead(500).end());
  await moveWebhook(audit, endpoint, next.url);
  expect(await check()).toMatchObject({ outcome: 'checked', check: { canReceive: false } });
  held.resolve();
  expect(await first).toMatchObject({ check: { canReceive: true }, reEnabled: false });
  expect(await findWebhook(pool, partnerId)).toMatchObject({ url: next.url, state: 'suspended' });
});

test('a change of where events go, or of a secret, is a notice to the team; a repeated one is not', async () => {
  const partnerId = await createFundedPartner(pool, 0n);
  const audit = { ...auditContextOf(pool, clock), actor: 'operator:support' };
  const [one, two, three] = ['one', 'two', 'three'].map(name => `https://shop.example/${name}`);
  const first = { partnerId, endpointId: firstEndpointOf(partnerId) };
  expect(await rotateSecret(audit, vault, partnerId)).toBe('no_webhook');
  await setWebhook(audit, vault, partnerId, one!);
  await setWebhook(audit, vault, partnerId, one!);
  await setWebhook(audit, vault, partnerId, two!);
  await moveWebhook(audit, first, two!);
  await moveWebhook(audit, first, one!);
  const wanted = { mode: 'live', url: three!, events: contractEvents } as const;
  const added = await addEndpoint(audit, vault, partnerId, wanted);
  if (added.outcome !== 'added') throw new Error(added.outcome);
  const further = { partnerId, endpointId: added.endpointId };
  await setEvents(audit, further, ['payment.failed']);
  expect(await rotateSecret(audit, vault, partnerId, further)).toBe('rotated');
  expect(await rotateSecret(audit, vault, partnerId, further)).toBe('overlap');
  expect(await removeEndpoint(audit, further)).toBe('removed');
  expect(await removeEndpoint(audit, further)).toBe('no_webhook');
  const { rows } = await pool.query(
    'SELECT kind, details FROM partner_notices WHERE partner_id = $1 ORDER BY id',
    [uuidFromId(partnerId)],
  );
  const notice = (kind: string, url: string | undefined, mode: string | null = null) => ({
    kind,
    details: { url, mode, actor: 'operator:support' },
  });
  expect(rows).toEqual([
    notice('endpoint_added', one),
    notice('endpoint_moved', two),
    notice('endpoint_moved', one),
    notice('endpoint_added', three, 'live'),
    notice('endpoint_secret_rotated', three, 'live'),
    notice('endpoint_removed', three, 'live'),
  ]);
});

const failedAttempt = (partnerId: Id<'prt'>, eventId: bigint) => ({
  ...{ partnerId, endpointId: firstEndpointOf(partnerId), mode: 'live' as const, eventId, attempt: 1 },
  ...{ isDelivered: false, hasHung: false },
  ...{ status: 500, error: null, responseBody: null, durationMs: 5, nextAt: new Date(), at: new Date() },
});

test('a locked webhook holds up no result of other partners', async () => {
  const record = createRecorder({ db: pool, clock, log: { error: () => {}, warn: () => {} } });
  const [{ partnerId: locked }, { partnerId: other }] = [await newPartner(), await newPartner()];
  const { unlock } = await holdLocks(url, 'SELECT FROM endpoints WHERE endpoint_id = $1 FOR UPDATE', [
    uuidFromId(locked),
  ]);
  const recorded = follow(record(failedAttempt(locked, 1n)));
  await record(failedAttempt(other, 2n));
  await record(failedAttempt(other, 3n));
  expect(recorded.hasEnded).toBe(false);
  await unlock();
  await recorded.result;
  const { rows } = await pool.query('SELECT event_id FROM webhook_attempts ORDER BY event_id');
  expect(rows.map(row => row.event_id)).toEqual([1n, 2n, 3n]);
});
