import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import {
  addEndpoint,
  contractEvents,
  createVault,
  firstEndpointOf,
  moveWebhook,
  removeEndpoint,
  rotateSecret,
  setEvents,
  setWebhook,
} from '../../src/webhooks/index.ts';
import { auditContextOf, createDatabase, createFundedPartner } from '../helpers/database.ts';
import { keyring } from '../helpers/partners.ts';

const { pool } = await createDatabase();
const audit = { ...auditContextOf(pool), actor: 'operator:support' };
const vault = createVault(keyring);
const [one, two, three] = ['one', 'two', 'three'].map(name => `https://shop.example/${name}`);

test('a change of where events go, or of a secret, is a notice to the team; a repeated one is not', async () => {
  const partnerId = await createFundedPartner(pool, 0n);
  const first = { partnerId, endpointId: firstEndpointOf(partnerId) };
  expect(await rotateSecret(audit, vault, partnerId)).toBe('no_webhook');
  await setWebhook(audit, vault, partnerId, one!);
  await setWebhook(audit, vault, partnerId, one!);
  await setWebhook(audit, vault, partnerId, two!);
  await moveWebhook(audit, first, two!);
  await moveWebhook(audit, first, one!);
  const added = await addEndpoint(audit, vault, partnerId, {
    mode: 'live',
    url: three!,
    events: contractEvents,
  });
  if (added.outcome !== 'added') throw new Error(added.outcome);
  const further = { partnerId, endpointId: added.endpointId };
  await setEvents(audit, further, ['payment.failed']);
  expect(await rotateSecret(audit, vault, partnerId, { endpointId: further.endpointId })).toBe('rotated');
  expect(await rotateSecret(audit, vault, partnerId, { endpointId: further.endpointId })).toBe('overlap');
  expect(await removeEndpoint(audit, further)).toBe('removed');
  expect(await removeEndpoint(audit, further)).toBe('no_webhook');
  const { rows } = await pool.query(
    'SELECT kind, details FROM partner_notices WHERE partner_id = $1 ORDER BY id',
    [uuidFromId(partnerId)],
  );
  const notice = (kind: string, url: string | undefined, mode: string | null = null) => ({
    kind,
    details: { url, mode, actor: 'operator:support' },
  });
  expect(rows).toEqual([
    notice('endpoint_added', one),
    notice('endpoint_moved', two),
    notice('endpoint_moved', one),
    notice('endpoint_added', three, 'live'),
    notice('endpoint_secret_rotated', three, 'live'),
    notice('endpoint_removed', three, 'live'),
  ]);
});
