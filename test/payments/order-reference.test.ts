import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { createKeyring } from '../../src/db/secrets/keyring.ts';
import { keyOfPaymentByHand, personWhoPaid } from '../../src/payments/by-hand.ts';
import { createReferenceSealer, openReference, sealReference } from '../../src/payments/order-reference.ts';
import { createRandom, type Random } from '../helpers/random.ts';

const firstKey = 'a secret key for the tests, long enough';
const key = createReferenceSealer(createKeyring([firstKey]));
const afterRotation = createReferenceSealer(
  createKeyring(['a later key for the tests, long enough', firstKey], createKeyring([firstKey]).active().id),
);
type SealedPayment = Parameters<typeof sealReference>[0];

const typical = (): SealedPayment => ({
  paymentId: newId('pay', systemClock),
  partnerId: newId('prt', systemClock),
  mode: 'live',
  idempotencyKey: '0b7a3c1e-5d0f-4a57-9d43-9a2f7f0c1b2d',
  requestHash: Buffer.alloc(32, 0xa5),
  externalId: 'order-42',
  qrcId: 'AD10004MV5CJ3D638358RO81129CE63P',
  qrUrl:
    'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=30510&cur=RUB&crc=B754',
  fingerprint: 'f1',
  recipient: 'ООО «Кофейня на Невском»',
  amountKopecks: 30_510n,
  microUsdt: 3_298_378n,
  rateE4: 925_000n,
  rateId: 12_345n,
  metadata: '{"cart":17,"note":"спасибо"}',
  createdAt: new Date('2026-11-15T10:00:00.123Z'),
});

/** The longest that the API accepts: 255 ASCII characters, 128 characters of any kind, 64 of a QR code. */
const longest = (): SealedPayment => ({
  ...typical(),
  idempotencyKey: '~'.repeat(255),
  externalId: '\u{10ffff}'.repeat(128),
  qrcId: 'z'.repeat(64),
  amountKopecks: 2n ** 63n - 1n,
  microUsdt: 2n ** 63n - 1n,
  rateE4: 2n ** 63n - 1n,
  rateId: 2n ** 63n - 1n,
});

const alphabets = ['aB9_-', ' ~"\\/', 'ёЖ№', '\u{1f600}\u{10ffff}', '中\uffff', 'ü\u0000'];

function randomText(random: Random, min: number, max: number, alphabet?: string): string {
  const characters = [...(alphabet ?? alphabets.slice(0, random.between(1, alphabets.length)).join(''))];
  return Array.from({ length: random.between(min, max) }, () => random.pick(characters)).join('');
}

function randomPayment(random: Random): SealedPayment {
  const number = () => BigInt(random.between(1, 10 ** random.between(1, 15)));
  const qrcId = randomText(random, 16, 64, 'ADBR0123456789_z');
  return {
    paymentId: newId('pay', systemClock),
    partnerId: newId('prt', systemClock),
    mode: random.pick(['live', 'test']),
    idempotencyKey: randomText(random, 1, 255, 'az AZ09~!"\\'),
    requestHash: Buffer.from(Array.from({ length: 32 }, () => random.between(0, 255))),
    externalId: random.chance(0.2) ? null : randomText(random, 0, 128),
    qrcId,
    qrUrl: `https://qr.nspk.ru/${qrcId}${random.chance(0.5) ? `?${randomText(random, 0, 600, 'a=1&')}` : ''}`,
    fingerprint: 'f1',
    recipient: randomText(random, 0, random.pick([20, 500])),
    amountKopecks: number(),
    microUsdt: number(),
    rateE4: number(),
    rateId: number(),
    metadata: JSON.stringify({ note: randomText(random, 0, random.pick([20, 200, 8_000])) }),
    createdAt: new Date(random.between(0, 4_102_444_800_000)),
  };
}

/** What must come back, given what was left out. */
function expected(payment: SealedPayment, leftOut: string[]) {
  return {
    ...payment,
    fingerprint: '',
    ...(leftOut.includes('qrUrl') ? { qrUrl: `https://qr.nspk.ru/${payment.qrcId}` } : {}),
    ...(leftOut.includes('recipient') ? { recipient: '' } : {}),
    ...(leftOut.includes('metadata') ? { metadata: '{}' } : {}),
    leftOut,
  };
}

describe('the reference of an order', () => {
  test.each<[what: string, payment: SealedPayment, leftOut: string[]]>([
    ['everything that a payment usually has', typical(), []],
    [
      'the longest key, external id and QR code that there can be',
      longest(),
      ['qrUrl', 'recipient', 'metadata'],
    ],
    [
      'all but what does not fit',
      { ...typical(), qrUrl: `${typical().qrUrl}${'a=1&'.repeat(400)}` },
      ['qrUrl'],
    ],
  ])('gives back %s', (_what, payment, leftOut) => {
    const reference = sealReference(payment, key);
    expect(reference).toMatch(/^[\w-]{1,1024}$/);
    expect(openReference(reference, key, payment.paymentId)).toEqual(expected(payment, leftOut));
  });

  test('gives back who paid by hand', () => {
    const idempotencyKey = keyOfPaymentByHand(2n ** 63n - 1n, typical().idempotencyKey);
    const payment = { ...typical(), idempotencyKey };
    const opened = openReference(sealReference(payment, key), key, payment.paymentId)!;
    expect(personWhoPaid(opened)).toBe(`telegram:${2n ** 63n - 1n}`);
  });

  test('gives any payment back, and is never longer than 1 024 characters', () => {
    const random = createRandom(18);
    const leftOut = new Set<string>();
    for (let nth = 0; nth < 1_000; nth++) {
      const payment = randomPayment(random);
      const reference = sealReference(payment, key);
      expect(reference.length).toBeLessThanOrEqual(1_024);
      const opened = openReference(reference, key, payment.paymentId)!;
      expect(opened).toEqual(expected(payment, opened.leftOut));
      leftOut.add(opened.leftOut.join());
    }
    expect([...leftOut]).toEqual(expect.arrayContaining(['', 'metadata', 'recipient,metadata']));
  });

  test('uses all 1 024 characters, with the name of its key', () => {
    const payment = { ...typical(), recipient: '' };
    const sizes = Array.from({ length: 600 }, (_, size) =>
      sealReference({ ...payment, metadata: 'x'.repeat(size) }, afterRotation),
    ).map(({ length }) => length);
    expect(Math.max(...sizes)).toBe(1_024);
  });

  test('is read whichever key of the process has sealed it', () => {
    const payment = longest();
    for (const sealer of [key, afterRotation]) {
      const reference = sealReference(payment, sealer);
      expect(openReference(reference, afterRotation, payment.paymentId)).toEqual(
        expected(payment, ['qrUrl', 'recipient', 'metadata']),
      );
      expect(openReference(reference, afterRotation, newId('pay', systemClock))).toBeUndefined();
    }
    expect(openReference(sealReference(payment, afterRotation), key, payment.paymentId)).toBeUndefined();
  });

  test('reveals nothing: it differs each time and has no field in clear', () => {
    const payment = { ...typical(), requestHash: Buffer.alloc(32, 'clear text') };
    const references = [sealReference(payment, key), sealReference(payment, key)];
    expect(references[0]).not.toBe(references[1]);
    expect(Buffer.from(references[0]!, 'base64url').includes('clear text')).toBe(false);
  });

  test('a payment that is too long for it is a bug, and is not sent', () => {
    expect(() => sealReference({ ...longest(), idempotencyKey: 'ж'.repeat(255) }, key)).toThrow(RangeError);
  });
});

describe('no reference', () => {
  const payment = typical();
  const reference = sealReference(payment, key);
  const open = (text: string) => openReference(text, key, payment.paymentId);

  const bytes = Buffer.from(reference, 'base64url');
  const indexes = Array.from(reference, (_, at) => at);
  const withByte = (at: number, change: number) =>
    Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ change : byte))).toString('base64url');

  test.each<[string, string[]]>([
    [
      'with any other byte',
      [...bytes.keys()].flatMap(at => [0x01, 0x80, 0xff].map(change => withByte(at, change))),
    ],
    [
      'with any other character',
      [
        ...indexes.flatMap(at =>
          [...'AQgw_-= +\n']
            .filter(character => reference[at] !== character)
            .map(character => reference.slice(0, at) + character + reference.slice(at + 1)),
        ),
        ...[...'A=\n *'].map(character => reference + character),
      ],
    ],
    [
      'cut off anywhere, on either side',
      indexes.flatMap(at => [reference.slice(0, at), ...(at > 0 ? [reference.slice(at)] : [])]),
    ],
  ])('%s', (_what, texts) => {
    for (const text of texts) expect(open(text), text).toBeUndefined();
    expect(open(reference)).toBeDefined();
  });

  test('of another order and of another key', () => {
    expect(openReference(reference, key, newId('pay', systemClock))).toBeUndefined();
    const otherKey = createReferenceSealer(createKeyring(['another secret key for the tests, also long']));
    expect(openReference(reference, otherKey, payment.paymentId)).toBeUndefined();
  });

  test.each([
    '',
    'AQ',
    'not ours',
    'A'.repeat(1_024),
    'AQ'.repeat(100_000),
    '\u{1f600}'.repeat(256),
    'constructor',
    Buffer.concat([Buffer.of(1), Buffer.alloc(27)]).toString('base64url'),
    Buffer.concat([Buffer.of(1), Buffer.alloc(28)]).toString('base64url'),
    Buffer.concat([Buffer.of(2), Buffer.from(reference, 'base64url').subarray(1)]).toString('base64url'),
  ])('a foreign text %#', text => {
    expect(open(text)).toBeUndefined();
  });
});
