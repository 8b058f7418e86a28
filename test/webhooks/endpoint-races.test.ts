import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import {
  checkPartner,
  findWebhook,
  firstEndpointOf,
  moveWebhook,
  readSecrets,
  removeEndpoint,
  rotateSecret,
  setWebhook,
} from '../../src/webhooks/index.ts';
import { keyring } from '../helpers/api.ts';
import { createFundedPartner } from '../helpers/database.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';
import { startEndpointWorld } from './endpoint-world.ts';

const { pool, clock, audit, vault, sender, newPartner } = await startEndpointWorld();

test('of two rotations at once one is refused: the secret that the receiver has stays valid', async () => {
  for (let round = 0; round < 10; round++) {
    const { partnerId } = await newPartner();
    const secretsNow = () => readSecrets(pool, vault, partnerId, clock.nowMs());
    const [known] = await secretsNow();
    const outcomes = await Promise.all([1, 2, 3].map(() => rotateSecret(audit, vault, partnerId)));
    expect(outcomes.toSorted()).toEqual(['overlap', 'overlap', 'rotated']);
    expect(await secretsNow()).toContain(known);
  }
});

test('of two first endpoints at once one is refused, and of two URLs the second knows of the first', async () => {
  const url = (nth: number) => `https://shop.example/${nth}`;
  const partnerId = await createFundedPartner(pool, 0n);
  const outcomes = await Promise.all(
    [1, 2].map(nth => setWebhook(audit, vault, partnerId, url(nth), { isNew: true })),
  );
  expect(outcomes.toSorted()).toEqual(['exists', 'set']);
  await Promise.all([3, 4, 5].map(nth => setWebhook(audit, vault, partnerId, url(nth))));
  const { rows } = await pool.query(
    `SELECT before->>'url' AS before, after->>'url' AS after FROM audit
      WHERE action = 'webhook.set' AND subject = $1 ORDER BY id`,
    [partnerId],
  );
  expect(rows.map(({ before }) => before)).toEqual([null, ...rows.slice(0, -1).map(({ after }) => after)]);
});

test('an endpoint that is removed at the same time is not moved', async () => {
  for (let round = 0; round < 10; round++) {
    const { partnerId } = await newPartner();
    const endpoint = { partnerId, endpointId: firstEndpointOf(partnerId) };
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
  const { partnerId, receiver } = await newPartner();
  const suspend = 'UPDATE webhooks SET suspended_at = $2 WHERE partner_id = $1';
  await pool.query(suspend, [uuidFromId(partnerId), new Date(clock.nowMs())]);
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
  await moveWebhook(audit, { partnerId, endpointId: firstEndpointOf(partnerId) }, next.url);
  expect(await check()).toMatchObject({ outcome: 'checked', check: { canReceive: false } });
  held.resolve();
  expect(await first).toMatchObject({ check: { canReceive: true }, reEnabled: false });
  expect(await findWebhook(pool, partnerId)).toMatchObject({ url: next.url, state: 'suspended' });
});
