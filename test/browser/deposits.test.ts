import { beforeAll, expect, test } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { startDepositWorld, xpub } from '../deposits/world.ts';
import { answerDialog, openByMenu, press, rowOf } from './page-actions.ts';
import { describeInBrowser, findBarriers, openWorld } from './world.ts';

const usdt = 1_000_000n;

describeInBrowser('deposits', async browser => {
  const deposits = await startDepositWorld({ isScreened: true });
  const { pool, chain } = deposits;
  const { depositChains, depositScreenUrl } = readSettings({
    DEPOSIT_CHAINS: 'ethereum',
    DEPOSIT_ETHEREUM_RPC: 'https://node.example/key-of-the-node',
    DEPOSIT_ETHEREUM_XPUB: xpub,
    DEPOSIT_SCREEN_URL: 'https://screen.example',
  });
  const world = await openWorld({ pool, depositChains, depositScreenUrl }, browser);
  let page: Awaited<ReturnType<typeof world.as>>;
  let partner: Awaited<ReturnType<typeof deposits.newPartner>>;
  beforeAll(async () => {
    page = await world.as('finance', { name: 'anna' });
    partner = await deposits.newPartner();
    for (const units of [5n, 6n, 7n, 5_000n]) chain.mine([{ to: partner.account, units: units * usdt }]);
    await deposits.settle();
    await deposits.screen(async ({ microUsdt }) => (microUsdt === 5n * usdt ? 'allow' : 'hold'));
  });

  const held = () => page.getByRole('table', { name: 'Held deposits' });
  const all = () => page.getByRole('table', { name: 'All deposits' });

  test('are listed with the held ones first, the lag of the chain and a link to the explorer', async () => {
    await page.goto('/console/');
    await openByMenu(page, 'Deposits');
    await rowOf(held(), '6.000000').getByText('Held by the screening service').waitFor();
    await rowOf(all(), '5.000000').getByText('Credited').waitFor();
    await rowOf(page.getByRole('table', { name: 'Chains' }), 'Ethereum').waitFor();
    await page.getByText('Screening service: on').waitFor();
    const link = rowOf(all(), '6.000000').getByRole('link', { name: /^0x\w+…/ });
    expect(await link.getAttribute('href')).toMatch(/^https:\/\/etherscan\.io\/tx\/0x\w{64}$/);
    expect(await findBarriers(page)).toEqual([]);
    const hash = (await link.getAttribute('href'))!.split('/').at(-1)!;
    await page.getByLabel('Search', { exact: true }).fill(hash);
    await expect.poll(() => all().getByRole('row').count()).toBe(2);
    await rowOf(all(), '6.000000').waitFor();
    await press(page, 'Clear filters');
    await expect.poll(() => all().getByRole('row').count()).toBe(5);
    await page.getByLabel('Status').selectOption('Credited');
    await expect.poll(() => all().getByRole('row').count()).toBe(2);
    expect(page.url()).toContain('state=credited');
  });

  test('a held one is credited or rejected with a reason; a large one waits for a second operator', async () => {
    await page.goto('/console/deposits');
    await press(rowOf(held(), '6.000000'), 'Credit');
    await answerDialog(page, 'Credit', { Reason: 'The sender is a known exchange' });
    await rowOf(all(), '6.000000').getByText('The sender is a known exchange').waitFor();
    await press(rowOf(held(), '7.000000'), 'Reject');
    await answerDialog(page, 'Reject', { Reason: 'The sender is under sanctions' });
    await rowOf(all(), '7.000000').getByText('Rejected').waitFor();
    await press(rowOf(held(), '5,000.000000'), 'Credit');
    await answerDialog(page, 'Credit', { Reason: 'Checked by phone' });
    await rowOf(held(), '5,000.000000').getByText('Waiting for approval').waitFor();
    expect(await deposits.balanceOf(partner.partnerId)).toBe(11n * usdt);

    const second = await world.as('finance', { name: 'boris' });
    await second.goto('/console/requests');
    await second.getByRole('heading', { name: 'Decide on held deposit' }).waitFor();
    await press(second, 'Approve');
    await answerDialog(second, 'Approve');
    await expect.poll(() => deposits.balanceOf(partner.partnerId)).toBe(5_011n * usdt);
  });
});
