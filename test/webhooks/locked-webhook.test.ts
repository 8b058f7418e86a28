import { expect, test } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { createRecorder } from '../../src/webhooks/delivery/recorder.ts';
import { createVault, firstEndpointOf, setWebhook } from '../../src/webhooks/index.ts';
import { auditContextOf, createDatabase, createFundedPartner } from '../helpers/database.ts';
import { follow, holdLocks } from '../helpers/locks.ts';
import { keyring } from '../helpers/partners.ts';

const { pool, url } = await createDatabase();

async function newPartner(): Promise<Id<'prt'>> {
  const partnerId = await createFundedPartner(pool, 0n);
  await setWebhook(auditContextOf(pool), createVault(keyring), partnerId, 'https://receiver.example/');
  return partnerId;
}

const failedAttempt = (partnerId: Id<'prt'>, eventId: bigint) => ({
  ...{ partnerId, endpointId: firstEndpointOf(partnerId), mode: 'live' as const, eventId, attempt: 1 },
  ...{ isDelivered: false, hasHung: false },
  ...{ status: 500, error: null, durationMs: 5, nextAt: new Date(), at: new Date() },
});

test('a locked webhook holds up no result of other partners', async () => {
  const record = createRecorder({ db: pool, clock, log: { error: () => {}, warn: () => {} } });
  const [locked, other] = [await newPartner(), await newPartner()];
  const { unlock } = await holdLocks(url, 'SELECT FROM webhooks WHERE partner_id = $1 FOR UPDATE', [
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
