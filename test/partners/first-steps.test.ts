import { expect, test } from 'vitest';
import type { Id } from '../../src/base/ids.ts';
import { recordChange } from '../../src/db/audit/index.ts';
import { transaction } from '../../src/db/postgres/pool.ts';
import { credit } from '../../src/ledger/index.ts';
import {
  approveLive,
  keyIdOf,
  readFirstSteps,
  refuseLive,
  revokeKey,
  signUp,
} from '../../src/partners/index.ts';
import { firstEndpointOf } from '../../src/webhooks/first-endpoint.ts';
import { createVault, removeEndpoint, setWebhook } from '../../src/webhooks/index.ts';
import { issueKey, keyring, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { newPerson } from '../helpers/portal.ts';

const { pool } = await createDatabase();
const { address } = await startApi({ pool });
await setRate(pool);
const audit = auditContextOf(pool);

async function newcomer(): Promise<Id<'prt'>> {
  const person = newPerson();
  const signed = await signUp({ ...audit, actor: `telegram:${person.userId}` }, person, 'New shop');
  if (signed.outcome !== 'signed_up') throw new Error(signed.outcome);
  return signed.partner.partnerId;
}

const statesOf = async (partnerId: Id<'prt'>) =>
  Object.fromEntries((await readFirstSteps(pool, partnerId)).map(({ step, state }) => [step, state]));
const check = (partnerId: Id<'prt'>, passed: boolean) =>
  recordChange(pool, audit, { action: 'webhook.check', subject: partnerId, after: { passed } });

test('each step is done when it is on record, and stays so', async () => {
  const partnerId = await newcomer();
  const expectNow = async (change: object) => expect(await statesOf(partnerId)).toMatchObject(change);
  expect(await statesOf(partnerId)).toEqual({
    test_key: 'open',
    payment: 'open',
    webhook_check: 'open',
    live_approval: 'pending',
    top_up: 'open',
  });

  const key = await issueKey(pool, partnerId, 'test');
  await expectNow({ test_key: 'done', payment: 'open' });
  const api = partnerAt(address, key);
  await api.pay({ qr_url: newLink(10_001) });
  await expectNow({ payment: 'open' });
  await api.pay({ qr_url: newLink(10_000) });
  await expectNow({ payment: 'done', top_up: 'open' });
  await revokeKey(audit, keyIdOf(key)!);
  await expectNow({ test_key: 'done' });

  await setWebhook(audit, createVault(keyring), partnerId, 'https://shop.example/hook');
  await expectNow({ webhook_check: 'open' });
  await check(partnerId, false);
  await expectNow({ webhook_check: 'open' });
  await check(partnerId, true);
  await expectNow({ webhook_check: 'done' });
  await removeEndpoint(audit, { partnerId, endpointId: firstEndpointOf(partnerId) });
  await expectNow({ webhook_check: 'open' });

  await refuseLive(audit, partnerId);
  await expectNow({ live_approval: 'refused' });
  await approveLive(audit, partnerId);
  await expectNow({ live_approval: 'done', top_up: 'open' });
  const item = { partnerId, mode: 'live', reference: 'first', microUsdt: 1n } as const;
  await transaction(pool, tx => credit(tx, audit.clock, [item]));
  await expectNow({ top_up: 'done' });
});

test('what others do counts for them alone', async () => {
  const [partnerId, other] = [await newcomer(), await newcomer()];
  const before = await statesOf(partnerId);
  await issueKey(pool, other, 'test');
  await setWebhook(audit, createVault(keyring), other, 'https://shop.example/hook');
  await check(other, true);
  expect(await statesOf(partnerId)).toEqual(before);
});
