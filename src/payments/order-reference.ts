import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { packText, unpackText } from '../base/packed-text.ts';
import { createSealer, isNamed, type Keyring, type Sealer, sealOverheadBytes } from '../db/secrets/index.ts';
import type { NewPayment } from './openings.ts';
import type { Payment } from './payment.ts';

/**
 * What the gateway keeps with an order, so that a payment that our database has lost can be rebuilt. It is sealed: the
 * gateway learns nothing from it but its length, and can neither write one nor move one to another order.
 */
type SealedPayment = Omit<NewPayment, 'rateStaleAt' | 'nextAt' | 'leaseHolder'> & Pick<Payment, 'createdAt'>;

export interface ReferencedPayment extends SealedPayment {
  /**
   * What was too long for the reference: such a link is only that of the QR code, such a recipient is '', and such metadata
   * are {}.
   */
  leftOut: OptionalText[];
  /** Not in the reference, since only the order needs it. */
  fingerprint: '';
}

/** The first byte where the reference does not name its key; otherwise the name is there. */
const version = 1;
/** The limit of the wire contract, in characters. */
const maxReferenceLength = 1_024;
const maxPlainBytes = (maxReferenceLength * 3) / 4 - sealOverheadBytes;

/** In the order in which they get the space that is left. */
const optionalTexts = ['qrUrl', 'recipient', 'metadata'] as const;
type OptionalText = (typeof optionalTexts)[number];

/** The first byte: the mode, and which texts are there. */
const flags = { isTest: 1, externalId: 2, qrUrl: 4, recipient: 8, metadata: 16 };
const hashBytes = 32;
const partnerBytes = 16;
const fixedBytes = 1 + partnerBytes + hashBytes + 4 * 8 + 6;

/** Keys for this purpose alone. */
export const createReferenceSealer = (keyring: Keyring): Sealer => {
  const sealer = createSealer(keyring, 'order references');
  return {
    seal: (payment, subject) => {
      const sealed = sealer.seal(payment, subject);
      return keyring.isFirst(keyring.active()) ? Buffer.concat([Buffer.of(version), sealed]) : sealed;
    },
    unseal: (sealed, subject) => sealer.unseal(isNamed(sealed) ? sealed : sealed.subarray(1), subject),
  };
};

export const sealReference = (payment: SealedPayment, references: Sealer): string =>
  references.seal(encode(payment), subjectOf(payment.paymentId)).toString('base64url');

/** Undefined if it is not of this service, was modified, or belongs to another order. */
export function openReference(
  text: string,
  references: Sealer,
  paymentId: Id<'pay'>,
): ReferencedPayment | undefined {
  if (text.length > maxReferenceLength) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  // The decoder skips characters that it does not know. One text has one meaning.
  if ((bytes[0] !== version && !isNamed(bytes)) || bytes.toString('base64url') !== text) return undefined;
  try {
    return decode(references.unseal(bytes, subjectOf(paymentId)), paymentId);
  } catch {
    return undefined;
  }
}

const subjectOf = (paymentId: Id<'pay'>) => `${version} ${paymentId}`;

/**
 * The longest key, external id and QR code that a payment can have take 712 of 735 bytes, so they are always there. The
 * payment id is not: the reference is bound to it.
 */
function encode(payment: SealedPayment): Buffer {
  const bytes = Buffer.allocUnsafe(maxPlainBytes);
  let end = fixedBytes;
  const add = (text: string): boolean => {
    const newEnd = packText(text, bytes, end);
    end = newEnd ?? end;
    return newEnd !== undefined;
  };
  let present = payment.mode === 'test' ? flags.isTest : 0;
  const required = [payment.idempotencyKey, payment.qrcId];
  if (payment.externalId !== null) {
    required.push(payment.externalId);
    present |= flags.externalId;
  }
  if (!required.every(add)) throw new RangeError('a payment is too long for the reference of its order');
  for (const name of optionalTexts) if (add(payment[name])) present |= flags[name];
  writeFixed(bytes, payment, present);
  return bytes.subarray(0, end);
}

function writeFixed(bytes: Buffer, payment: SealedPayment, present: number): void {
  let at = bytes.writeUInt8(present);
  at += bytes.write(uuidFromId(payment.partnerId).replaceAll('-', ''), at, 'hex');
  at += payment.requestHash.copy(bytes, at, 0, hashBytes);
  for (const number of [payment.amountKopecks, payment.microUsdt, payment.rateE4, payment.rateId])
    at = bytes.writeBigInt64BE(number, at);
  bytes.writeUIntBE(payment.createdAt.getTime(), at, 6);
}

function decode(bytes: Buffer, paymentId: Id<'pay'>): ReferencedPayment {
  const present = bytes.readUInt8(0);
  const hashAt = 1 + partnerBytes;
  const numbersAt = hashAt + hashBytes;
  const number = (nth: number) => bytes.readBigInt64BE(numbersAt + 8 * nth);
  let at = fixedBytes;
  const next = () => {
    const { text, end } = unpackText(bytes, at);
    at = end;
    return text;
  };
  const nextIf = (flag: number) => (present & flag ? next() : undefined);
  const idempotencyKey = next();
  const qrcId = next();
  return {
    paymentId,
    partnerId: idFromUuid('prt', bytes.toString('hex', 1, hashAt)),
    mode: present & flags.isTest ? 'test' : 'live',
    idempotencyKey,
    requestHash: Buffer.from(bytes.subarray(hashAt, numbersAt)),
    externalId: nextIf(flags.externalId) ?? null,
    qrcId,
    qrUrl: nextIf(flags.qrUrl) ?? `https://qr.nspk.ru/${qrcId}`,
    fingerprint: '',
    recipient: nextIf(flags.recipient) ?? '',
    amountKopecks: number(0),
    microUsdt: number(1),
    rateE4: number(2),
    rateId: number(3),
    metadata: nextIf(flags.metadata) ?? '{}',
    createdAt: new Date(bytes.readUIntBE(numbersAt + 4 * 8, 6)),
    leftOut: optionalTexts.filter(name => !(present & flags[name])),
  };
}
