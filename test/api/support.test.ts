import { expect, test } from 'vitest';
import { setSuspended } from '../../src/partners/index.ts';
import { createPartnerWithKeys, partnerAt, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();

/** What a suspended partner reads. */
async function messageWith(supportUrl?: string): Promise<string> {
  const { address } = await startApi({ pool, ...(supportUrl ? { supportUrl } : {}) });
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  await setSuspended(auditContextOf(pool), partnerId, true);
  const { status, json } = await partnerAt(address, testKey).get('/v1/ping');
  expect({ status, code: json.error.code }).toEqual({ status: 403, code: 'partner_suspended' });
  return json.error.message;
}

test('a suspended partner reads where support is', async () => {
  const message = await messageWith('https://t.me/kopeck_help');
  expect(message).toBe('Access is suspended. Contact support: https://t.me/kopeck_help');
});

test('without SUPPORT_URL it reads what happens, and nothing about support', async () => {
  const message = await messageWith();
  expect(message).toContain('payments in progress are completed');
  expect(message).not.toMatch(/support/i);
});
