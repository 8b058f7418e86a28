import { expect, test } from 'vitest';
import { changeRole, listKeys, removeMember } from '../../src/partners/index.ts';
import { addEndpoint, contractEvents, createVault, setWebhook } from '../../src/webhooks/index.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { refusal } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { keyring } from '../helpers/partners.ts';
import { startPortal } from '../helpers/portal.ts';
import { sendSlowly } from '../helpers/slow-request.ts';

const { pool } = await createDatabase();
const { address, audit, member } = await startPortal({ pool });
const newKey = { mode: 'test', scopes: ['read', 'pay'], allowed_addresses: [] };

test.each([
  ['is removed', 404, 'no_partner'],
  ['gets a lower role', 403, 'forbidden'],
  ['signs out', 401, 'signed_out'],
])('a member who %s while a request arrives changes nothing', async (what, status, code) => {
  const { partnerId } = await createPartnerWithKeys(pool);
  await member(partnerId, 'owner');
  const second = await member(partnerId, 'owner');
  const before = (await listKeys(pool, partnerId)).length;
  const finish = await sendSlowly(second, `${address}/portal/api/partners/${partnerId}/keys`, newKey);
  // The guard has let it in; now it is another's turn.
  await second.read('/keys');
  if (what === 'is removed') await removeMember(audit, partnerId, second.person.userId);
  else if (what === 'signs out') await second.post('/logout');
  else await changeRole(audit, partnerId, second.person.userId, 'viewer');
  expect(await finish()).toMatchObject({ status, json: { error: { code } } });
  expect(await listKeys(pool, partnerId)).toHaveLength(before);
});

test('a limit of nothing is refused, and makes no key without a limit', async () => {
  const { partnerId } = await createPartnerWithKeys(pool);
  const owner = await member(partnerId, 'owner');
  for (const limit of [{ max_day_rub: '0' }, { max_payment_rub: '0.00' }])
    expect((await owner.act('/keys', { ...newKey, ...limit })).status).toBe(400);
  const { status } = await owner.act('/keys', { ...newKey, max_day_rub: '0.01' });
  expect(status).toBe(200);
});

test('an event is sent again to the endpoint that is named, and to none if there are several', async () => {
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  const owner = await member(partnerId, 'owner');
  const vault = createVault(keyring);
  await setWebhook(audit, vault, partnerId, 'https://shop.example/one');
  const added = { mode: 'test' as const, url: 'https://shop.example/two', events: contractEvents };
  await addEndpoint(audit, vault, partnerId, added);
  await setRate(pool);
  expect((await partnerAt(address, testKey).pay({ qr_url: newLink(10_000) })).status).toBe(200);
  const { data } = (await owner.read('/deliveries?mode=test')).json;
  expect(data).toHaveLength(2);
  const [{ event_id, endpoint_id }] = data;
  const resend = (body?: object) => owner.act(`/deliveries/${event_id}/resend`, body);
  expect(await resend()).toMatchObject(refusal(409, 'several_endpoints'));
  expect((await resend({ endpoint_id: 'none' })).status).toBe(404);
  expect((await owner.read(`/deliveries/${event_id}?endpoint_id=none`)).status).toBe(404);
  expect((await resend({ endpoint_id })).status).toBe(200);
});
