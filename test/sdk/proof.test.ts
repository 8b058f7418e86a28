import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { verifyProof, verifyWebhook } from '../../sdk/src/index.ts';
import { standardHeaders } from '../../src/webhooks/delivery/standard-webhooks.ts';
import { keySetObject } from '../../src/webhooks/signing/key-set.ts';
import { codeOf } from './fake.ts';

const atSec = 1_794_737_400;
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const event = { id: 'evt_17', event: 'payment.succeeded', data: { recipient: 'ООО «Ромашка» 🌼' } };
const body = JSON.stringify(event);

/** As the service lists it. */
function newKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url');
  const at = new Date(atSec * 1_000);
  const { keys } = keySetObject({ partnerId: 'prt_1', mode: 'live' }, [
    { publicKey: raw, createdAt: at, signsFrom: at },
  ]);
  return { privateKey, listed: keys[0]! };
}

const [own, other] = [newKey(), newKey()];
const headers = { ...standardHeaders([secret], { id: event.id, atSec, body }, own.privateKey) };
const both = { keys: [other.listed, own.listed] };

test('anybody with the public keys can verify a webhook, years later', async () => {
  expect(await verifyProof(body, headers, both)).toEqual(event);
  expect(await verifyProof(Buffer.from(body), new Headers(headers), both)).toEqual(event);
  expect(await codeOf(verifyWebhook(body, headers, secret))).toBe('timestamp_out_of_tolerance');
});

describe('refused', () => {
  test.each([
    ['another body', body.replace('17', '18'), headers],
    ['another time', body, { ...headers, 'webhook-timestamp': `${atSec + 1}` }],
    ['another id', body, { ...headers, 'webhook-id': 'evt_18' }],
  ])('%s', async (_what, changed, sent) => {
    expect(await codeOf(verifyProof(changed, sent, both))).toBe('signature_mismatch');
  });

  test('a key that is not listed', async () => {
    expect(await codeOf(verifyProof(body, headers, { keys: [other.listed] }))).toBe('signature_mismatch');
  });

  test('a signature by the secret alone, which the receiver could have made', async () => {
    const byReceiver = { ...standardHeaders([secret], { id: event.id, atSec, body }) };
    expect(await codeOf(verifyProof(body, byReceiver, both))).toBe('signature_malformed');
  });

  test('not for a key that cannot be read, beside the right one', async () => {
    const damaged = { ...own.listed, x: '!' };
    expect(await verifyProof(body, headers, { keys: [damaged, own.listed] })).toEqual(event);
    await expect(verifyProof(body, headers, { keys: [damaged] })).rejects.toThrow(TypeError);
  });

  test('no keys, or a body that was parsed, is wrong use', async () => {
    await expect(verifyProof(body, headers, { keys: [] })).rejects.toThrow(TypeError);
    await expect(verifyProof(event as never, headers, both)).rejects.toThrow(/as it came/);
  });
});
