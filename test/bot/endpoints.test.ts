import { expect, test } from 'vitest';
import { createVault, listWebhooks, setWebhook } from '../../src/webhooks/index.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { keyring } from '../helpers/partners.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';
import { ownerOf, startTestBot } from './setup.ts';

const { pool } = await createDatabase();
const world = await startTestBot({ pool });

test('endpoints: add, choose the kinds of events, secret, check, and remove once confirmed', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Several');
  const [first, second] = [await startReceiver(), await startReceiver()];
  await setWebhook(auditContextOf(pool), createVault(keyring), partnerId, first.url);
  await owner.goes(
    ['📬 Webhook', /Status: ✅ active/],
    ['➕ Add an endpoint', /Which payments/],
    ['Test', /Type the URL/],
  );
  await owner.writes('ftp://example.com', /cannot be used/);
  await owner.writes(second.url, /gets events from now on/);
  await owner.reads(/Mode: test/);

  await owner.goes(['☑️ payment.failed', ({ buttons }) => buttons.flat().includes('⬜ payment.failed')]);
  const refused = await owner.press('☑️ payment.succeeded');
  expect((await refused.answer()).text).toMatch(/at least one kind/);
  await owner.goes(['⬜ payment.refunded', ({ buttons }) => buttons.flat().includes('☑️ payment.refunded')]);
  const endpoints = async () =>
    (await listWebhooks(pool, partnerId)).map(({ url, mode, events }) => [url, mode, events]);
  expect(await endpoints()).toEqual([
    [first.url, null, ['payment.succeeded', 'payment.failed']],
    [second.url, 'test', ['payment.succeeded', 'payment.refunded']],
  ]);

  await owner.goes(['🧪 Check', /Webhook check/]);
  expect([first.received.length, second.received.length]).toEqual([0, 5]);

  const { text } = await owner.goes(['📬 Webhook', /Endpoints:/]);
  expect(text).toContain(`2. ✅ ${second.url} (test)`);
  await owner.goes(
    ['2. test', /Mode: test/],
    ['🗑 Remove', /are removed too/],
    ['🗑 Remove', /Status: ✅ active/],
  );
  expect(await endpoints()).toHaveLength(1);
});
