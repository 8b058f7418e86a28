import { createPublicKey, verify } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { verifyProof, verifyWebhook } from '../../sdk/src/index.ts';
import { newId } from '../../src/base/ids.ts';
import { standardHeaders, standardSecret } from '../../src/webhooks/delivery/signatures.ts';
import {
  addSigningRoot,
  checkPartner,
  keySetPath,
  newSecret,
  rotateSecret,
  setEd25519,
} from '../../src/webhooks/index.ts';
import { keyring, partnerAt } from '../helpers/api.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';
import type { Received } from '../helpers/webhook-receiver.ts';
import { untilReceived } from './delivery-world.ts';
import { startEndpointWorld } from './endpoint-world.ts';

const simulator = await openSimulator();
const world = await startEndpointWorld({ gatewayUrl: simulator.address });
const { address, audit, vault, sender, clock, newPartner, add } = world;
const message = {
  id: 'evt_17',
  atSec: Math.floor(Date.now() / 1_000),
  body: '{"id":"evt_17","name":"Кофейня"}',
};

/** By the library of Standard Webhooks, which reads the clock of the machine. */
const isAccepted = (secret: string, body: string, headers: object) => {
  try {
    new Webhook(secret).verify(body, { ...headers } as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};

describe('the library of Standard Webhooks', () => {
  test('accepts what is signed with a new secret, as it is shown', () => {
    for (let nth = 0; nth < 50; nth++) {
      const secret = newSecret();
      const headers = standardHeaders([secret], message);
      expect([standardSecret(secret), isAccepted(secret, message.body, headers)]).toEqual([secret, true]);
      expect(isAccepted(newSecret(), message.body, headers)).toBe(false);
      expect(isAccepted(secret, message.body.replace('17', '18'), headers)).toBe(false);
      expect(isAccepted(secret, message.body, { ...headers, 'webhook-id': 'evt_18' })).toBe(false);
    }
  });

  test('accepts an older secret in its other form, and either of two during a rotation', () => {
    const old = 'whsec_-_8A_vX2yZ0-QmT4rWb1nKcL7oJpHsDfGeUiVxYzA9k';
    const [now, other] = [newSecret(), newSecret()];
    const headers = standardHeaders([now, old], message);
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
    expect(isAccepted(standardSecret(old), message.body, headers)).toBe(true);
    expect(isAccepted(now, message.body, headers)).toBe(true);
    expect(isAccepted(other, message.body, headers)).toBe(false);
  });
});

/** What was sent at a time of the manual clock. */
const verifyNow = ({ headers, body }: Received, secret: string | string[]) => {
  const { 'x-service-signature': _, ...others } = headers;
  return verifyWebhook(body, others, secret, { now: clock.nowMs });
};

test('every request carries both kinds of headers, for the first and for further endpoints', async () => {
  const { partnerId, receiver, pay, secret } = await newPartner();
  const other = await add(partnerId);
  await rotateSecret(audit, vault, partnerId, { endpointId: other.endpointId });
  await pay();
  await untilReceived(clock, receiver, 1);
  await untilReceived(clock, other.receiver, 1);
  const [first, second] = [receiver.received[0]!, other.receiver.received[0]!];
  for (const { headers, json } of [first, second]) {
    expect(headers['webhook-id']).toBe(json.id);
    expect(headers['webhook-timestamp']).toBe(/t=(\d+)/.exec(`${headers['x-service-signature']}`)![1]);
  }
  expect(await verifyNow(first, secret)).toEqual(first.json);
  for (const own of await other.secrets()) expect(await verifyNow(second, own)).toEqual(second.json);
  await expect(verifyNow(second, secret)).rejects.toMatchObject({ code: 'signature_mismatch' });
  const late = { now: () => clock.nowMs() + 301_000 };
  const { 'x-service-signature': _, ...others } = first.headers;
  await expect(verifyWebhook(first.body, others, secret, late)).rejects.toMatchObject({
    code: 'timestamp_out_of_tolerance',
  });
});

test('an endpoint that asks for it gets a signature that others can verify, also after a rotation', async () => {
  const { partnerId, endpoint, receiver, pay } = await newPartner();
  const plain = await add(partnerId);
  expect(await setEd25519(audit, keyring, endpoint, true)).toBe('set');
  await pay();
  await untilReceived(clock, receiver, 1);
  await untilReceived(clock, plain.receiver, 1);
  expect(plain.receiver.received[0]!.headers['webhook-signature']).not.toContain('v1a,');

  await addSigningRoot(audit, keyring);
  clock.advance(120_000);
  await pay();
  await untilReceived(clock, receiver, 2);
  const response = await fetch(`${address}${keySetPath({ partnerId, mode: 'test' })}`);
  const { keys, request_id } = (await response.json()) as {
    keys: { x: string; kid: string; standard_webhooks: string }[];
    request_id: string;
  };
  expect(request_id).toBe(response.headers.get('x-request-id'));
  expect(keys).toHaveLength(2);
  // Each request is signed with one of the published keys; the newer one signs the second.
  const signerOf = ({ headers, body }: (typeof receiver.received)[number]) => {
    const signed = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
    const [, signature = ''] = /v1a,(\S+)/.exec(`${headers['webhook-signature']}`)!;
    return keys.findIndex(({ x }) => {
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
      return verify(null, signed, key, Buffer.from(signature, 'base64'));
    });
  };
  const signers = receiver.received.map(signerOf);
  expect(signers).toEqual([1, 0]);

  // A receiver that verifies this signature can be checked too.
  const before = receiver.received.length;
  const result = await checkPartner({ audit, sender, vault, keyring }, partnerId, {});
  expect(result).toMatchObject({ outcome: 'checked' });
  const probes = receiver.received.slice(before).map(signerOf);
  expect(probes).toEqual([0, 0, -1, 0, -1]);
  for (const { x, standard_webhooks } of keys)
    expect(standard_webhooks).toBe(`whpk_${Buffer.from(x, 'base64url').toString('base64')}`);
});

const modes = ['live', 'test'] as const;

/** A partner that asks for Ed25519 signatures, with an event of each mode that it received. */
async function newSignedPartner() {
  const { partnerId, endpoint, receiver, pay, liveKey } = await newPartner();
  expect(await setEd25519(audit, keyring, endpoint, true)).toBe('set');
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
