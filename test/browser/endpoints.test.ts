import { expect, test } from 'vitest';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { createPartnerWithKeys, keyring } from '../helpers/partners.ts';
import { answerDialog, cardOf, press } from './page-actions.ts';
import { describeInBrowser, findBarriers, openWorld, takePicture } from './world.ts';

describeInBrowser('endpoints of a partner', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  const { partnerId } = await createPartnerWithKeys(pool);
  await setWebhook(auditContextOf(pool), createVault(keyring), partnerId, 'https://shop.example/first');

  test('support adds one, changes it and removes it, each with a reason', async () => {
    const page = await world.as('support');
    const Reason = 'The partner has asked for it';
    await page.goto(`/console/partners/${partnerId}/webhook`);
    await press(page, 'Add endpoint');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('payment.refunded').uncheck();
    await answerDialog(page, 'Add endpoint', { URL: 'https://127.0.0.1:1/books', Reason });
    const card = cardOf(page, 'Endpoint, live');
    await card.getByText('https://127.0.0.1:1/books').waitFor();
    await press(card, 'Change URL');
    await answerDialog(page, 'Save', { URL: 'https://127.0.0.1:1/moved', Reason });
    await card.getByText('https://127.0.0.1:1/moved').waitFor();
    await press(card, 'Sign with Ed25519');
    await answerDialog(page, 'Save', { Reason });
    await card.getByText('Stop signing with Ed25519').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await takePicture(page, 'endpoints');
    await press(card, 'Remove');
    await answerDialog(page, 'Remove', { Reason });
    await card.waitFor({ state: 'hidden' });
  });
});
