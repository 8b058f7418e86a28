import { beforeAll, expect, test } from 'vitest';
import { operatorRoles, type Permission, roleHasPermission } from '../../src/operators/index.ts';
import { createDatabase } from '../helpers/database.ts';
import { startSimulator } from '../helpers/simulator.ts';
import { insertSampleData } from './sample-data.ts';
import { describeInBrowser, openWorld, untilLoaded } from './world.ts';

type Offer = [button: string, needs: Permission, refusedBy: string];

describeInBrowser('roles', async browser => {
  const { pool } = await createDatabase();
  const bank = await startSimulator();
  const world = await openWorld({ pool, gatewayUrl: bank.address }, browser);
  let day: Awaited<ReturnType<typeof insertSampleData>>;
  beforeAll(async () => {
    day = await insertSampleData(world, bank);
  });

  /** The actions of each page, the permission that each needs, and the route that it calls. */
  const pages = (): Record<string, Offer[]> => ({
    '/': [['Clear', 'alarms.clear', '/alarms/1/clear']],
    '/payments': [],
    [`/payments/${day.reviewId}`]: [
      ['Check status', 'payments.ask', `/payments/${day.reviewId}/ask`],
      ['Mark as succeeded', 'payments.resolve', `/payments/${day.reviewId}/resolve`],
      ['Mark as failed', 'payments.resolve', `/payments/${day.reviewId}/resolve`],
    ],
    '/review': [],
    '/requests': [],
    '/partners': [['New partner', 'partners.create', '/partners']],
    [`/partners/${day.newcomerId}`]: [
      ['Approve live mode', 'partners.approve', `/partners/${day.newcomerId}/approve`],
      ['Reject live mode', 'partners.approve', `/partners/${day.newcomerId}/refuse`],
      ['Suspend', 'partners.suspend', `/partners/${day.newcomerId}/suspend`],
      ['Credit balance', 'balances.credit', `/partners/${day.newcomerId}/credit`],
      ['Change', 'partners.limits', `/partners/${day.newcomerId}/limits`],
    ],
    [`/partners/${day.partnerId}/keys`]: [
      ['Change addresses', 'keys.addresses', '/keys/none/addresses'],
      ['Revoke', 'keys.revoke', '/keys/none/revoke'],
    ],
    [`/partners/${day.partnerId}/webhook`]: [
      ['Check endpoint', 'webhooks.check', `/partners/${day.partnerId}/webhook/check`],
      ['Add endpoint', 'webhooks.change', `/partners/${day.partnerId}/endpoints`],
      ['Remove', 'webhooks.change', `/partners/${day.partnerId}/endpoints/none/remove`],
      ['Resend', 'events.resend', '/events/evt_1/resend'],
    ],
    '/deliveries': [],
    [`/deliveries/${day.partnerId}/${day.eventId}`]: [
      ['Resend', 'events.resend', `/events/${day.eventId}/resend`],
    ],
    '/deposits': [
      ['Credit', 'balances.credit', `/deposits/${day.depositId}/release`],
      ['Reject', 'balances.credit', `/deposits/${day.depositId}/reject`],
    ],
    '/ledger': [['Verify now', 'ledger.verify', '/ledger/verify']],
    [`/ledger/${day.partnerId}/live`]: [],
    '/rates': [['Change', 'rates.change', '/rates/rules']],
    '/recipients': [
      ['Block recipient', 'recipients.block', '/recipients/block'],
      ['Unblock', 'recipients.block', '/recipients/unblock'],
    ],
    '/reconciliation': [['Reconcile a day', 'reconciliation.run', '/reconciliations']],
    [`/reconciliation/${day.runId}`]: [],
    '/request-log': [],
    '/audit': [],
    '/settings': [
      ['Schedule', 'settings.maintenance', '/settings/maintenance/plan'],
      ['Start now', 'settings.maintenance', '/settings/maintenance'],
      ['Cancel maintenance', 'settings.maintenance', '/settings/maintenance/cancel'],
      ['Change', 'settings.thresholds', '/settings/thresholds'],
    ],
    '/settings/sessions': [],
    '/settings/operators': [
      ['New operator', 'operators.manage', '/operators'],
      ['Reset access', 'operators.manage', '/operators/none/reset'],
      ['Disable', 'operators.manage', '/operators/none/disable'],
    ],
  });

  test.each(operatorRoles)(
    '%s: permitted actions are enabled; the others show the needed role and are refused',
    async role => {
      const page = await world.as(role);
      await page.goto('/console/');
      const offered: string[] = [];
      const refused: string[] = [];
      for (const [path, offers] of Object.entries(pages())) {
        await page.evaluate(`history.pushState(null, '', '/console${path}')`);
        await untilLoaded(page);
        for (const [name, needs, call] of offers) {
          // The last one: in the operator's own row it is disabled for every role.
          const button = page.locator('main').getByRole('button', { name, exact: true }).last();
          await button.waitFor();
          const isOffered = (await button.getAttribute('aria-disabled')) !== 'true';
          expect([path, name, isOffered]).toEqual([path, name, roleHasPermission(role, needs)]);
          if (isOffered) offered.push(call);
          else {
            expect(await button.getAttribute('aria-description')).toMatch(/^Required role: /);
            refused.push(call);
          }
        }
      }
      expect(offered.length > 0).toBe(role !== 'viewer');
      if (refused.length === 0) return;
      world.announceRefusals(403);
      const answers = await page.evaluate(callAll(refused, page.operator.csrfToken!));
      expect(answers).toEqual(refused.map(call => `${call} 403 forbidden`));
    },
  );
});

/** Calls all routes from within the page, with its cookie and CSRF token. */
const callAll = (calls: string[], token: string) => `Promise.all(${JSON.stringify(calls)}.map(async call => {
  const headers = { 'content-type': 'application/json', 'x-csrf-token': ${JSON.stringify(token)} };
  const answer = await fetch('/console/api' + call, { method: 'POST', headers, body: '{}' });
  return [call, answer.status, (await answer.json()).error?.code].join(' ');
}))`;
