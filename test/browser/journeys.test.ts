import { describe } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { chainSettings } from '../deposits/world.ts';
import { createDatabase } from '../helpers/database.ts';
import { startSimulator } from '../helpers/simulator.ts';
import { describeInBrowser } from './chromium.ts';
import { testDocs } from './docs.ts';
import { testFinance } from './finance.ts';
import { testPages } from './pages.ts';
import { testPartner } from './partner.ts';
import { testPaymentList } from './payment-list.ts';
import { testPortal } from './portal.ts';
import { insertSampleData } from './sample-data.ts';
import { testSettings } from './settings.ts';
import { testShell } from './shell.ts';
import { testSigningIn } from './sign-in.ts';
import { testSupport } from './support.ts';
import { openWindows, openWorld } from './world.ts';

/*
 * All journeys share one browser and one service with a day's work. Therefore they are in one file: files run in several
 * processes. `-t` with the name of a journey runs it alone.
 */
describeInBrowser('in a browser', async browser => {
  const gatewayToken = 'a-token-that-nobody-may-see';
  const bank = await startSimulator({ GATEWAY_TOKEN: gatewayToken });
  const { pool } = await createDatabase();
  let laterMs = 0;
  const clock = { ...systemClock, nowMs: () => Date.now() + laterMs };
  const { depositChains } = chainSettings();
  const options = { pool, clock, gatewayUrl: bank.address, gatewayToken, depositChains };
  const world = await openWorld(options, openWindows(browser));
  const day = await insertSampleData(world, bank);

  // First, since the others change what the pages show.
  describe('every page of the console', () => testPages(world, day));
  describe('the list of payments', () => testPaymentList(world, bank, day));
  describe('support', () => testSupport(world, bank, gatewayToken));
  describe('finance', () => testFinance(world));
  describe('a partner', () => testPartner(world));
  describe('settings and controls', () => testSettings(world, day));
  describe('around the pages', () => testShell(world));
  describe('the portal', () => testPortal(world, day));
  describe('the documentation', () => testDocs(world));
  // Last, since it moves the clock.
  describe('signing in', () => testSigningIn(world, ms => (laterMs += ms)));
});
