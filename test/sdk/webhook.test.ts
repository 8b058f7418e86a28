import { createHmac, generateKeyPairSync } from 'node:crypto';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { verifyProof, verifyWebhook } from '../../sdk/src/index.ts';
import { sign, standardHeaders } from '../../src/webhooks/delivery/signatures.ts';
import { keySetObject } from '../../src/webhooks/signing/signing-keys.ts';
import { codeOf } from './fake.ts';

const atSec = 1_794_737_400;
const now = () => atSec * 1_000;
const secret = 'whsec_0123456789abcdef';
const event = { id: 'evt_17', event: 'payment.succeeded', data: { recipient: 'ООО «Ромашка» 🌼' } };
const body = JSON.stringify(event);
const header = sign([secret], atSec, body);
/** `verified`, or why not. */
const verdictOf = (sent: string | Uint8Array, by: unknown, key: string | string[] = secret, more = {}) =>
  codeOf(verifyWebhook(sent, by as string, key, { now, ...more }));
const digestOf = (text: string, key = secret) => createHmac('sha256', key).update(text).digest('hex');

describe('a genuine webhook', () => {
  test('as text and as bytes, by the signer of the service', async () => {
    expect(await verifyWebhook(body, header, secret, { now })).toEqual(event);
    expect(await verifyWebhook(new TextEncoder().encode(body), header, secret, { now })).toEqual(event);
    expect(await verifyWebhook(Buffer.from(body), [header], secret, { now })).toEqual(event);
    const within = new Uint8Array([0, ...new TextEncoder().encode(body), 0]).subarray(1, -1);
    expect(await verifyWebhook(within, header, secret, { now })).toEqual(event);
  });

  test('by an independent signer', async () => {
    const foreign = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: atSec });
    expect(await verifyWebhook(body, foreign, secret, { now })).toEqual(event);
  });

  test('with several signatures and several secrets', async () => {
    const both = sign(['old', secret], atSec, body);
    expect(await verifyWebhook(body, both, secret, { now })).toEqual(event);
    expect(await verifyWebhook(body, both, 'old', { now })).toEqual(event);
    expect(await verifyWebhook(body, header, ['new', secret], { now })).toEqual(event);
    expect(await verifyWebhook(body, `v2=later,${header}, v1=nonsense`, secret, { now })).toEqual(event);
    expect(await verdictOf(body, both, 'another')).toBe('signature_mismatch');
  });

  test.each([-300, 300])('signed %i s from now', async distance => {
    const options = { now: () => (atSec + distance) * 1_000 };
    expect(await verifyWebhook(body, header, secret, options)).toEqual(event);
  });
});

describe('a forged or damaged webhook', () => {
  test.each([-301, 301, 1e9])('%i s from now', async distance => {
    const options = { now: () => (atSec + distance) * 1_000 };
    expect(await codeOf(verifyWebhook(body, header, secret, options))).toBe('timestamp_out_of_tolerance');
    expect(await codeOf(verifyWebhook(body, header, secret, { ...options, toleranceSec: 2e9 }))).toBe(
      'verified',
    );
  });

  test('another secret', async () => {
    expect(await verdictOf(body, header, 'whsec_other')).toBe('signature_mismatch');
  });

  test('a body changed in one byte, or serialised again', async () => {
    const bytes = new TextEncoder().encode(body);
    for (let index = 0; index < bytes.length; index++) {
      const changed = bytes.slice();
      changed[index]! ^= 1;
      expect(await verdictOf(changed, header), `${index}`).toBe('signature_mismatch');
    }
    for (const changed of [`${body} `, `${body}\n`, body.slice(1), '', JSON.stringify(event, null, 1)])
      expect(await verdictOf(changed, header)).toBe('signature_mismatch');
  });

  test('another time than the signed one', async () => {
    const moved = header.replace(`t=${atSec}`, `t=${atSec + 1}`);
    expect(await verdictOf(body, moved)).toBe('signature_mismatch');
  });

  test.each([undefined, null, '', []])('no header: %j', async missing => {
    expect(await verdictOf(body, missing)).toBe('signature_missing');
  });

  const digest = digestOf(`${atSec}.${body}`);
  test.each([
    'nonsense',
    `t=${atSec}`,
    `v1=${digest}`,
    `t=,v1=${digest}`,
    `t=-1,v1=${digest}`,
    `t=1e9,v1=${digest}`,
    `t=${atSec}.0,v1=${digest}`,
    `t=NaN,v1=${digestOf(`NaN.${body}`)}`,
    `t=${atSec},t=${atSec},v1=${digest}`,
    `t=${atSec},v1=`,
    `t=${atSec},v1=${digest.slice(1)}`,
    `t=${atSec},v1=${digest}00`,
    `t=${atSec},v1=${digest.toUpperCase()}`,
    `t=${atSec},v0=${digest}`,
    `t=${atSec} v1=${digest}`,
    `${header},${header}`,
  ])('malformed: %s', async malformed => {
    expect(await verdictOf(body, malformed)).toBe('signature_malformed');
  });

  test('signed, but not JSON', async () => {
    expect(await verdictOf('hello', sign([secret], atSec, 'hello'))).toBe('body_malformed');
  });

  test('wrong use is not reported as a forgery', async () => {
    await expect(verifyWebhook(event as never, header, secret, { now })).rejects.toThrow(/as it came/);
    for (const none of ['', [], [secret, '']])
      await expect(verifyWebhook(body, header, none, { now })).rejects.toThrow(TypeError);
  });
});

const standardSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

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
const headers = { ...standardHeaders([standardSecret], { id: event.id, atSec, body }, own.privateKey) };
const both = { keys: [other.listed, own.listed] };

test('anybody with the public keys can verify a webhook, years later', async () => {
  expect(await verifyProof(body, headers, both)).toEqual(event);
  expect(await verifyProof(Buffer.from(body), new Headers(headers), both)).toEqual(event);
  expect(await codeOf(verifyWebhook(body, headers, standardSecret))).toBe('timestamp_out_of_tolerance');
});

describe('a proof is refused:', () => {
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
    const byReceiver = { ...standardHeaders([standardSecret], { id: event.id, atSec, body }) };
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
