import { expect, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { createPartnerWithKeys } from '../helpers/api.ts';
import { answers } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { startPortal } from '../helpers/portal.ts';
import { answered, store } from '../request-log/requests.ts';

const { pool } = await createDatabase();
const { member } = await startPortal({ pool });

const actionsOf = async (partnerId: string) =>
  (
    await pool.query(
      "SELECT after FROM audit WHERE subject = $1 AND action = 'partner.log_bodies' ORDER BY id",
      [partnerId],
    )
  ).rows.length;

test('an owner begins and ends the logging of bodies, and each change is on record', async () => {
  const { partnerId } = await createPartnerWithKeys(pool);
  const owner = await member(partnerId, 'owner');
  const until = async () => (await owner.read('/body-log')).json.until as string | null;
  expect(await until()).toBeNull();
  await answers(200, owner.act('/body-log', { duration: 'off' }));
  expect(await actionsOf(partnerId)).toBe(0);
  const startedMs = Date.now();
  await answers(200, owner.act('/body-log', { duration: 'day' }));
  const endMs = Date.parse((await until())!);
  expect(endMs).toBeGreaterThanOrEqual(startedMs + 86_400_000);
  expect(endMs).toBeLessThanOrEqual(Date.now() + 86_400_000);
  await answers(200, owner.act('/body-log', { duration: 'off' }));
  expect(Date.parse((await until())!)).toBeLessThanOrEqual(Date.now());
  await answers(200, owner.act('/body-log', { duration: 'off' }));
  expect(await actionsOf(partnerId)).toBe(2);
  for (const duration of ['year', 1, null, undefined])
    await answers(422, owner.act('/body-log', { duration }));
});

test('developers read the bodies of their own requests and of no others', async () => {
  const [shop, other] = [await createPartnerWithKeys(pool), await createPartnerWithKeys(pool)];
  const keyHolder = { partnerId: shop.partnerId, mode: 'test', keyId: '7f3a9c21b0d4' } as const;
  const request = answered({
    keyHolder,
    bodies: { sent: Buffer.from('{"qr_url":"x"}'), answered: '{"id":"pay_1"}' },
  });
  await store(pool, request);
  const developer = await member(shop.partnerId, 'developer');
  const foreign = await member(other.partnerId, 'developer');
  const path = `/request-log/${request.requestId}`;
  expect((await developer.read(path)).json).toEqual({
    request_body: '{"qr_url":"x"}',
    response_body: '{"id":"pay_1"}',
  });
  await answers(404, foreign.read(path));
  await answers(404, developer.read('/request-log/req_none'));
  await pool.query('DELETE FROM api_request_bodies WHERE request_id = $1', [
    uuidFromId(request.requestId as Id<'req'>),
  ]);
  await answers(404, developer.read(path));
});
