import { expect, test } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { startDepositWorld, xpub } from '../deposits/world.ts';
import { answerDialog, openByMenu, press, rowOf } from './page-actions.ts';
import { openWorld, type Windows } from './world.ts';

const usdt = 1_000_000n;

/** Finance decides deposits that were held. */
export async function testDeposits(windows: Windows) {
  const deposits = await startDepositWorld({ isScreened: true });
  const { pool, chain } = deposits;
  const { depositChains, depositScreenUrl } = readSettings({
    DEPOSIT_CHAINS: 'ethereum',
    DEPOSIT_ETHEREUM_RPC: 'https://node.example/key-of-the-node',
    DEPOSIT_ETHEREUM_XPUB: xpub,
    DEPOSIT_SCREEN_URL: 'https://screen.example',
  });
  const world = await openWorld({ pool, depositChains, depositScreenUrl }, windows);

  test('held deposits are credited or rejected with a reason; a large one waits for a second operator', async () => {
    const partner = await deposits.newPartner();
    for (const units of [5n, 6n, 7n, 5_000n]) chain.mine([{ to: partner.account, units: units * usdt }]);
    await deposits.settle();
    await deposits.screen(async ({ microUsdt }) => (microUsdt === 5n * usdt ? 'allow' : 'hold'));
    const page = await world.as('finance', { name: 'anna' });
    const held = page.getByRole('table', { name: 'Held deposits' });
    const all = page.getByRole('table', { name: 'All deposits' });
    await page.goto('/console/');
    await openByMenu(page, 'Deposits');
    await rowOf(held, '6.000000').getByText('Held by the screening service').waitFor();
    await rowOf(all, '5.000000').getByText('Credited').waitFor();
    await rowOf(page.getByRole('table', { name: 'Chains' }), 'Ethereum').waitFor();
    await page.getByText('Screening service: on').waitFor();
    const link = rowOf(all, '6.000000').getByRole('link', { name: /^0x\w+…/ });
    const href = (await link.getAttribute('href'))!;
    expect(href).toMatch(/^https:\/\/etherscan\.io\/tx\/0x\w{64}$/);
    await page.getByLabel('Search', { exact: true }).fill(href.split('/').at(-1)!);
    await expect.poll(() => all.getByRole('row').count()).toBe(2);
    await rowOf(all, '6.000000').waitFor();
    await press(page, 'Clear filters');
    await expect.poll(() => all.getByRole('row').count()).toBe(5);
    await page.getByLabel('Status').selectOption('Credited');
    await expect.poll(() => all.getByRole('row').count()).toBe(2);
    expect(page.url()).toContain('state=credited');
    await press(page, 'Clear filters');

    await press(rowOf(held, '6.000000'), 'Credit');
    await answerDialog(page, 'Credit', { Reason: 'The sender is a known exchange' });
    await rowOf(all, '6.000000').getByText('The sender is a known exchange').waitFor();
    await press(rowOf(held, '7.000000'), 'Reject');
    await answerDialog(page, 'Reject', { Reason: 'The sender is under sanctions' });
    await rowOf(all, '7.000000').getByText('Rejected').waitFor();
    await press(rowOf(held, '5,000.000000'), 'Credit');
    await answerDialog(page, 'Credit', { Reason: 'Checked by phone' });
    await rowOf(held, '5,000.000000').getByText('Waiting for approval').waitFor();
    expect(await deposits.balanceOf(partner.partnerId)).toBe(11n * usdt);

    const second = await world.as('finance', { name: 'boris' });
    await second.goto('/console/requests');
    await second.getByRole('heading', { name: 'Decide on held deposit' }).waitFor();
    await press(second, 'Approve');
    await answerDialog(second, 'Approve');
    await expect.poll(() => deposits.balanceOf(partner.partnerId)).toBe(5_011n * usdt);
  });
}
