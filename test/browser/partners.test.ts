import { beforeAll, describe, expect, test } from 'vitest';
import type { Id } from '../../src/base/ids.ts';
import { signUp } from '../../src/partners/index.ts';
import { partnerAt } from '../helpers/api.ts';
import { auditContextOf, createDatabase, createFundedPartner } from '../helpers/database.ts';
import { createPartnerWithKeys } from '../helpers/partners.ts';
import { answerDialog, cardOf, keepStale, openByMenu, press, rowOf } from './page-actions.ts';
import { describeInBrowser, openWorld } from './world.ts';

describeInBrowser('partners', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  let page: Awaited<ReturnType<typeof world.as>>;
  beforeAll(async () => {
    page = await world.as('admin', { name: 'anna' });
    await createFundedPartner(pool, 5n);
  });

  test('a partner is created, and found by a part of its name', async () => {
    await page.goto('/console/partners');
    await press(page, 'New partner');
    await answerDialog(page, 'Create', { Name: 'Цветы у дома' });
    await page.getByRole('heading', { name: 'Цветы у дома' }).waitFor();
    await openByMenu(page, 'Partners');
    const table = page.getByRole('table', { name: 'Partners' });
    await rowOf(table, 'Test shop').waitFor();
    await page.getByLabel('Search partners').fill('у дома');
    await rowOf(table, 'Test shop').waitFor({ state: 'hidden' });
    await table.getByRole('link', { name: 'Цветы у дома' }).click();
    await page.getByRole('heading', { name: 'Цветы у дома' }).waitFor();
  });

  test('a partner that requests live mode is refused, then approved', async () => {
    const signed = await signUp(auditContextOf(pool), { userId: 77n, name: 'Olga' }, 'Пекарня');
    if (signed.outcome !== 'signed_up') throw new Error(signed.outcome);
    await page.goto(`/console/partners/${signed.partner.partnerId}`);
    await page.getByText('Live mode requested').waitFor();
    await press(page, 'Reject live mode');
    await answerDialog(page, 'Reject live mode');
    await page.getByText('Test mode only').waitFor();
    await press(page, 'Approve live mode');
    await answerDialog(page, 'Approve live mode');
    await page.getByText('Live mode approved').waitFor();
    expect(await page.getByRole('button', { name: 'Approve live mode' }).count()).toBe(0);
  });

  test('a partner is suspended and resumed, with effect on its requests', async () => {
    const { partnerId, testKey } = await createPartnerWithKeys(pool);
    const pay = async () =>
      (await partnerAt(world.address, testKey).pay({ qr_url: 'none' })).json.error?.code;
    await page.goto(`/console/partners/${partnerId}`);
    await press(page, 'Suspend');
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Suspend' }).isDisabled()).toBe(true);
    await answerDialog(page, 'Suspend', { Reason: 'Asked for by the partner' });
    await page.getByText('Suspended').waitFor();
    await expect.poll(pay).toBe('partner_suspended');
    await press(page, 'Resume');
    await answerDialog(page, 'Resume');
    await page.getByText('Active').waitFor();
    await expect.poll(pay).not.toBe('partner_suspended');
  });

  describe('limits', () => {
    let partnerId: Id<'prt'>;
    const limit = async (column: string) =>
      (await pool.query(`SELECT ${column} AS value FROM partners ORDER BY created_at DESC, id DESC LIMIT 1`))
        .rows[0].value;
    beforeAll(async () => {
      partnerId = await createFundedPartner(pool, 5n);
    });

    test('are changed', async () => {
      await page.goto(`/console/partners/${partnerId}`);
      const card = cardOf(page, 'Limits');
      await press(card, 'Change');
      await answerDialog(page, 'Change', { 'Maximum amount, ₽': '250 000', 'Concurrent payments': '7' });
      await card.getByText('250,000.00').waitFor();
      expect(await limit('concurrent')).toBe(7);
    });

    test('changed by another operator meanwhile: the page shows it, and no change is lost', async () => {
      world.announceRefusals(409);
      const other = await world.as('finance', { name: 'boris' });
      for (const window of [page, other]) {
        await window.goto(`/console/partners/${partnerId}`);
        await press(cardOf(window, 'Limits'), 'Change');
        await window.getByLabel('Concurrent payments').fill(window === page ? '11' : '12');
      }
      const release = await keepStale(other, `partners/${partnerId}`);
      await answerDialog(page, 'Change');
      await press(other.getByRole('dialog'), 'Change');
      await other.getByText('Another operator has changed this in the meantime').waitFor();
      release();
      await other.getByText('Another operator has changed the limits in the meantime').waitFor();
      expect(await other.getByLabel('Concurrent payments').inputValue()).toBe('12');
      expect(await limit('concurrent')).toBe(11);
      await press(other, 'Start over with the current limits');
      await answerDialog(other, 'Change', { 'Concurrent payments': '12' });
      await expect.poll(() => limit('concurrent')).toBe(12);
    });
  });
});
