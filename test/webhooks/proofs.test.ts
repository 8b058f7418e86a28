import { expect, test } from 'vitest';
import { verifyProof } from '../../sdk/src/index.ts';
import { newId } from '../../src/base/ids.ts';
import { checkPartner, firstEndpointOf, keySetPath, setEd25519 } from '../../src/webhooks/index.ts';
import { keyring, partnerAt } from '../helpers/api.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';
import type { Received } from '../helpers/webhook-receiver.ts';
import { startDeliveryWorld, untilReceived } from './delivery-world.ts';

const simulator = await startSimulator();
const { address, audit, clock, sender, vault, newPartner } = await startDeliveryWorld({
  gatewayUrl: simulator.address,
});

const modes = ['live', 'test'] as const;

/** A partner that asks for Ed25519 signatures, with an event of each mode that it received. */
async function newSignedPartner() {
  const { partnerId, receiver, pay, liveKey } = await newPartner();
  const endpointId = firstEndpointOf(partnerId);
  expect(await setEd25519(audit, keyring, { partnerId, endpointId }, true)).toBe('set');
  const { qr_url } = (await makeQr(simulator)).request;
  expect((await partnerAt(address, liveKey).pay({ qr_url, external_id: 'order-1' })).status).toBe(200);
  await pay();
  await untilReceived(clock, receiver, 2);
  const eventOf = (mode: string) => receiver.received.find(({ json }) => json.data.mode === mode)!;
  return { partnerId, receiver, events: modes.map(mode => ({ partnerId, mode, event: eventOf(mode) })) };
}

async function keySetOf(of: { partnerId: string; mode: string }) {
  const response = await fetch(`${address}${keySetPath(of)}`);
  expect(response.status).toBe(200);
  return (await response.json()) as { partner_id: string; mode: string; keys: { crv: string; x: string }[] };
}

const isProven = ({ headers, body }: Received, keySet: Awaited<ReturnType<typeof keySetOf>>) =>
  verifyProof(body, headers, keySet).then(
    () => true,
    () => false,
  );

test('an event is proof for the keys of its own partner and mode, and for no others', async () => {
  const [one, other] = [await newSignedPartner(), await newSignedPartner()];
  const all = [...one.events, ...other.events];
  for (const sent of all) {
    const provenBy = [];
    for (const { partnerId, mode } of all) {
      const keySet = await keySetOf({ partnerId, mode });
      expect(keySet).toMatchObject({ partner_id: partnerId, mode });
      if (await isProven(sent.event, keySet)) provenBy.push({ partnerId, mode });
    }
    expect(provenBy).toEqual([{ partnerId: sent.partnerId, mode: sent.mode }]);
  }
});

test('a check is no proof of a live payment', async () => {
  const { partnerId, receiver } = await newSignedPartner();
  const before = receiver.received.length;
  await checkPartner({ audit, sender, vault, keyring }, partnerId);
  const probe = receiver.received[before]!;
  const [live, test] = [
    await keySetOf({ partnerId, mode: 'live' }),
    await keySetOf({ partnerId, mode: 'test' }),
  ];
  expect([await isProven(probe, live), await isProven(probe, test)]).toEqual([false, true]);
});

test('public keys are listed for ids of partners and for the two modes only', async () => {
  const partnerId = newId('prt', clock);
  for (const path of [
    keySetPath({ partnerId: 'prt_1', mode: 'live' }),
    keySetPath({ partnerId, mode: 'LIVE' }),
    keySetPath({ partnerId: newId('pay', clock), mode: 'live' }),
    '/.well-known/webhook-keys.json',
  ])
    expect((await fetch(`${address}${path}`)).status, path).toBe(404);
});
