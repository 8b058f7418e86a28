import { beforeAll, expect, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { createDatabase, createFundedPartner } from '../helpers/database.ts';
import { answerDialog, cardOf, press, save } from './page-actions.ts';
import { describeInBrowser, openWorld } from './world.ts';

describeInBrowser('money of a partner', async browser => {
  const { pool } = await createDatabase();
  const world = await openWorld({ pool }, browser);
  let page: Awaited<ReturnType<typeof world.as>>;
  let partnerId: Id<'prt'>;
  beforeAll(async () => {
    page = await world.as('finance', { name: 'fedor' });
    partnerId = await createFundedPartner(pool, 0n);
    await page.goto(`/console/partners/${partnerId}`);
  });

  /** The credits in the ledger, in USDT. */
  const credits = async () =>
    (
      await pool.query(
        `SELECT (micro_usdt / 1000000)::int AS usdt FROM entries
          WHERE partner_id = $1 AND mode = 'live' ORDER BY entry_no`,
        [uuidFromId(partnerId)],
      )
    ).rows.map(({ usdt }) => usdt);
  const fill = async (amount: string, reference: string) => {
    await press(cardOf(page, 'Balances'), 'Credit balance');
    await page.getByLabel('Amount, USDT').fill(amount);
    await page.getByLabel('Reference').fill(reference);
  };

  test('a small credit is made at once, and once per reference', async () => {
    world.announceRefusals(409);
    await fill('250', 'transfer 1');
    await answerDialog(page, 'Credit');
    await cardOf(page, 'Balances').getByText('250.000000').waitFor();
    await fill('250', 'transfer 1');
    await press(page.getByRole('dialog'), 'Credit');
    await page.getByText('This reference has already been credited').waitFor();
    await page.getByLabel('Amount, USDT').fill('300');
    await press(page.getByRole('dialog'), 'Credit');
    await page.getByText('This reference was already used with a different amount').waitFor();
    await press(page.getByRole('dialog'), 'Cancel');
    expect(await credits()).toEqual([250]);
  });

  test('a large credit waits for a second operator, not the requester, and moves money once', async () => {
    world.announceRefusals(409);
    await fill('5000', 'transfer 2');
    await page.getByText('A second operator must approve').waitFor();
    await answerDialog(page, 'Request approval');
    const request = cardOf(page, 'Credit balance');
    await request.getByText('transfer 2').waitFor();
    expect(await request.getByRole('button', { name: 'Approve' }).getAttribute('aria-disabled')).toBe('true');
    expect(await credits()).toEqual([250]);

    const [one, other] = [await world.as('finance'), await world.as('admin')];
    for (const window of [one, other]) {
      await window.goto(`/console/partners/${partnerId}`);
      await press(cardOf(window, 'Credit balance'), 'Approve');
    }
    const said = await Promise.all(
      [one, other].map(async window => {
        await press(window.getByRole('dialog'), 'Approve');
        return window
          .getByText(/^Done$|Another operator has already decided/)
          .last()
          .textContent();
      }),
    );
    expect(said.sort()).toEqual([expect.stringContaining('No changes were made'), 'Done']);
    await cardOf(one, 'Balances').getByText('5,250.000000').waitFor();
    expect(await credits()).toEqual([250, 5000]);
  });

  test('the daily statement adds up, in both formats', async () => {
    const card = cardOf(page, 'Daily statement');
    const today = new Date().toISOString().slice(0, 10);
    await card.getByLabel('Day (UTC)').fill(today);
    await card.getByText('the statement is not final').waitFor();
    const json = await save(card, page, 'Download JSON');
    expect(json.name).toBe(`statement-${partnerId}-live-${today}.json`);
    const { opening, entries, closing, digest } = JSON.parse(json.text);
    const sum = entries.reduce(
      (all: number, one: { amount_usdt: string }) => all + Number(one.amount_usdt),
      0,
    );
    expect(Number(opening.available_usdt) + sum).toBe(Number(closing.available_usdt));
    expect(sum).toBe(5250);
    const csv = await save(card, page, 'Download CSV');
    expect(csv.text.split('\n').filter(line => line.startsWith('entry,'))).toHaveLength(2);
    expect(csv.text).toContain(digest);
  });
});
