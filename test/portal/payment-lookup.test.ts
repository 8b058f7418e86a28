import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { explaining } from '../helpers/plans.ts';
import { startPortal } from '../helpers/portal.ts';

const { pool } = await createDatabase();
const { address, deps, member } = await startPortal({ pool });

test('a payment is searched among those of the partner, however many partners there are', async () => {
  await pool.query(
    `INSERT INTO partners (id, name, live_approved, created_at) SELECT uuidv7(), 'Shop', true, now() FROM generate_series(1, 300)`,
  );
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  const viewer = await member(partnerId, 'viewer');
  await setRate(pool);
  const paid = await partnerAt(address, testKey).pay({ qr_url: newLink(10_000) });
  const { db, searches } = explaining(pool);
  deps.pool.query = db.query as typeof pool.query;
  expect((await viewer.read(`/payments/${newId('pay', deps.clock)}`)).status).toBe(404);
  // Live and archived ones, of two modes.
  expect(searches('payments')).toBeLessThanOrEqual(4);
  expect(await viewer.read(`/payments/${paid.json.id}`)).toMatchObject({
    status: 200,
    json: { payment: { payment_id: paid.json.id } },
  });
});
