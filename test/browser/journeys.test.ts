import { describe } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { startSimulator } from '../helpers/simulator.ts';
import { describeInBrowser } from './chromium.ts';
import { testDeposits } from './deposits.ts';
import { testDocs } from './docs.ts';
import { testMoney } from './money.ts';
import { testPages } from './pages.ts';
import { testPartner } from './partner.ts';
import { testPaymentList } from './payment-list.ts';
import { testPortal } from './portal.ts';
import { testReview } from './review.ts';
import { insertSampleData } from './sample-data.ts';
import { testSettings } from './settings.ts';
import { testShell } from './shell.ts';
import { testSigningIn } from './sign-in.ts';
import { testSupport } from './support.ts';
import { openWindows, openWorld } from './world.ts';

/*
 * All journeys share one browser, and nearly all of them one of two services. Therefore they are in one file: files run in
 * several processes. `-t` with the name of a journey runs it alone.
 */
describeInBrowser('in a browser', async browser => {
  const windows = openWindows(browser);
  const gatewayToken = 'a-token-that-nobody-may-see';
  const bank = await startSimulator({ GATEWAY_TOKEN: gatewayToken });
  const gateway = { gatewayUrl: bank.address, gatewayToken };

  const { pool } = await createDatabase();
  let laterMs = 0;
  const clock = { ...systemClock, nowMs: () => Date.now() + laterMs };
  const world = await openWorld({ pool, clock, ...gateway }, windows);

  /** With a day's work for every page; the ledger does not match it. */
  const full = await openWorld({ pool: (await createDatabase()).pool, ...gateway }, windows);
  const day = await insertSampleData(full, bank);

  describe('review of a payment', () => testReview(world));
  describe('support', () => testSupport(world, bank, gatewayToken));
  describe('money', () => testMoney(world));
  describe('a partner', () => testPartner(world));
  describe('rates, settings and controls', () => testSettings(world));
  describe('around the pages', () => testShell(world));
  describe('signing in', () => testSigningIn(world, ms => (laterMs += ms)));
  describe('deposits', () => testDeposits(windows));
  describe('the list of payments', () => testPaymentList(full, bank, day));
  describe('every page of the console', () => testPages(full, day));
  describe('the portal', () => testPortal(full, day));
  describe('the documentation', () => testDocs(full));
});
