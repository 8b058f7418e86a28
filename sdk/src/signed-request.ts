import { SignatureError } from './errors.ts';
import type { PaymentEvent } from './types.ts';

/* The parts of a signed webhook: its headers, and its body as the bytes that were signed and as an event. */

export type Bytes = Uint8Array<ArrayBuffer>;
export type HeaderValue = string | string[] | null | undefined;

/** All headers of a request, as Node or the Fetch API has them. */
export type RequestHeaders = Record<string, HeaderValue> | Pick<Headers, 'get'>;

export function headerIn(headers: RequestHeaders, name: string): HeaderValue {
  return typeof headers.get === 'function'
    ? (headers as Pick<Headers, 'get'>).get(name)
    : (headers as Record<string, HeaderValue>)[name];
}

/** The headers of Standard Webhooks. */
export interface StandardHeaders {
  atSec: string;
  /** What is signed before the body. */
  prefix: string;
  signatures: Bytes[];
}

/** A signature: its scheme, a comma and base64. HMAC-SHA256 has 32 bytes, Ed25519 has 64. */
const schemes = { v1: /^v1,[A-Za-z0-9+/]{43}=$/, v1a: /^v1a,[A-Za-z0-9+/]{86}==$/ };

/** Signatures are separated by spaces. Those of other schemes are ignored. */
export function readStandardHeaders(headers: RequestHeaders, scheme: keyof typeof schemes): StandardHeaders {
  const [id, atSec, all] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    name => headerIn(headers, name) ?? '',
  );
  const signatures = `${all}`
    .split(' ')
    .filter(part => schemes[scheme].test(part))
    .map(part => fromBase64(part.slice(scheme.length + 1)));
  if (!id || !/^\d{1,12}$/.test(`${atSec}`) || signatures.length === 0)
    throw refused('signature_malformed', `The header webhook-signature is not ${scheme},<base64>.`);
  return { atSec: `${atSec}`, prefix: `${id}.${atSec}.`, signatures };
}

export const refused = (code: string, message: string) => new SignatureError(message, { code });

export function bytesOf(rawBody: string | Uint8Array, caller: string): Uint8Array {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (rawBody instanceof Uint8Array) return rawBody;
  throw new TypeError(`${caller} needs the body as it came (string or Uint8Array), not parsed JSON`);
}

/** What was signed. */
export function signedBytes(prefix: string, body: Uint8Array): Bytes {
  const first = new TextEncoder().encode(prefix);
  const all = new Uint8Array(first.length + body.length);
  all.set(first);
  all.set(body, first.length);
  return all;
}

/** Of a body whose signature is right. */
export function parseEvent(body: Uint8Array): PaymentEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch (cause) {
    throw new SignatureError('The body is not JSON.', { code: 'body_malformed', cause });
  }
}

export const fromBase64 = (text: string): Bytes =>
  Uint8Array.from(atob(text), character => character.charCodeAt(0));
