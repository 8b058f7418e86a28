import { SignatureError } from './errors.ts';
import type { PaymentEvent } from './types.ts';

type Bytes = Uint8Array<ArrayBuffer>;
type HeaderValue = string | string[] | null | undefined;

/** All headers of a request, as Node or the Fetch API has them. */
export type RequestHeaders = Record<string, HeaderValue> | Pick<Headers, 'get'>;

export interface VerifyOptions {
  /** How far the time of the signature may be from now, before or after; 300 s, as in the contract. */
  toleranceSec?: number | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
}

/** The header that carries the signature. */
export const signatureHeader = 'x-service-signature';

/**
 * The event of a webhook, if it is from the service and fresh; otherwise a SignatureError. The body must be the raw
 * bytes: parsed and serialised again, it has another signature. While a secret is being rotated, pass both. Instead of the
 * header `x-service-signature` all headers can be passed: without that one, those of Standard Webhooks are verified.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  header: HeaderValue | RequestHeaders,
  secret: string | readonly string[],
  { toleranceSec = 300, now = Date.now }: VerifyOptions = {},
): Promise<PaymentEvent> {
  const body = bytesOf(rawBody, 'verifyWebhook');
  const secrets = typeof secret === 'string' ? [secret] : (secret ?? []);
  if (secrets.length === 0 || secrets.some(one => typeof one !== 'string' || one === ''))
    throw new TypeError('verifyWebhook needs the webhook secret');
  const signature = readSignature(header);
  if (!(await isSigned(secrets, signature, body)))
    throw refused('signature_mismatch', 'No signature matches: wrong secret, or the body was changed.');
  if (Math.abs(now() / 1_000 - Number(signature.atSec)) > toleranceSec)
    throw refused('timestamp_out_of_tolerance', `The timestamp is off by more than ${toleranceSec} s.`);
  return parseEvent(body);
}

/**
 * The public keys of one partner in one mode: what `/.well-known/webhook-keys/{partner_id}/{mode}` of the service answers. Old keys
 * stay listed. Read it from the service, for the partner whose payment is to be proven: who gives you the proof may have keys too.
 */
export interface WebhookKeySet {
  keys: readonly { crv: string; x: string }[];
}

/**
 * The event of a webhook, if the service signed it for the partner and mode of these keys (Ed25519, `v1a` of Standard Webhooks); otherwise a
 * SignatureError. For others than the receiver, who have no secret: a court, an auditor. So it may be of any age.
 */
export async function verifyProof(
  rawBody: string | Uint8Array,
  headers: RequestHeaders,
  { keys }: WebhookKeySet,
): Promise<PaymentEvent> {
  const body = bytesOf(rawBody, 'verifyProof');
  const usable = keys.filter(({ crv, x }) => crv === 'Ed25519' && /^[A-Za-z0-9_-]{43}$/.test(x));
  if (usable.length === 0) throw new TypeError('verifyProof needs the public keys of the partner');
  const { prefix, digests } = readStandard(headers, 'v1a');
  const signed = signedBytes(prefix, body);
  for (const { x } of usable) {
    const key = await crypto.subtle.importKey('raw', fromBase64(x), 'Ed25519', false, ['verify']);
    for (const signature of digests)
      if (await crypto.subtle.verify('Ed25519', key, signature, signed)) return parseEvent(body);
  }
  throw refused(
    'signature_mismatch',
    'No signature matches: other keys, or the body or a header was changed.',
  );
}

/** What the headers of a webhook say. */
interface Signature {
  atSec: string;
  digests: Bytes[];
  /** What is signed before the body. */
  prefix: string;
  /** The key that a secret stands for. */
  keyOf(secret: string): Bytes;
}

function readSignature(header: HeaderValue | RequestHeaders): Signature {
  if (typeof header !== 'object' || header === null || Array.isArray(header)) return readHeader(header);
  const own = headerIn(header, signatureHeader);
  return own || !headerIn(header, 'webhook-signature') ? readHeader(own) : readStandard(header, 'v1');
}

/** `t=<unix seconds>,v1=<hex>[,v1=<hex>…]`; unknown schemes are ignored. */
function readHeader(header: HeaderValue): Signature {
  const text = Array.isArray(header) ? header.join(',') : header;
  if (!text) throw refused('signature_missing', `The header ${signatureHeader} is missing.`);
  const parts = text.split(',').map(part => part.trim());
  const times = parts.filter(part => part.startsWith('t=')).map(part => part.slice(2));
  const digests = parts.filter(part => /^v1=[0-9a-f]{64}$/.test(part)).map(part => fromHex(part.slice(3)));
  const [atSec = ''] = times;
  if (times.length !== 1 || !/^\d{1,12}$/.test(atSec) || digests.length === 0)
    throw refused('signature_malformed', 'The header is not t=<unix seconds>,v1=<hex digest>.');
  return { atSec, digests, prefix: `${atSec}.`, keyOf: secret => new TextEncoder().encode(secret) };
}

/** What follows `whsec_`. */
function standardKey(secret: string): Bytes {
  try {
    return fromBase64(secret.replace('whsec_', ''));
  } catch {
    throw new TypeError('the webhook secret is not whsec_ and base64');
  }
}

/** WebCrypto compares in constant time. */
async function isSigned(
  secrets: readonly string[],
  { digests, prefix, keyOf }: Signature,
  body: Uint8Array,
): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const signed = signedBytes(prefix, body);
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey('raw', keyOf(secret), algorithm, false, ['verify']);
    for (const digest of digests) if (await crypto.subtle.verify('HMAC', key, digest, signed)) return true;
  }
  return false;
}

const fromHex = (hex: string): Bytes =>
  Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  );

function headerIn(headers: RequestHeaders, name: string): HeaderValue {
  return typeof headers.get === 'function'
    ? (headers as Pick<Headers, 'get'>).get(name)
    : (headers as Record<string, HeaderValue>)[name];
}

/** A signature: its scheme, a comma and base64. HMAC-SHA256 has 32 bytes, Ed25519 has 64. */
const schemes = { v1: /^v1,[A-Za-z0-9+/]{43}=$/, v1a: /^v1a,[A-Za-z0-9+/]{86}==$/ };

/** The headers of Standard Webhooks. Signatures are separated by spaces; those of other schemes are ignored. */
function readStandard(headers: RequestHeaders, scheme: keyof typeof schemes): Signature {
  const [id, atSec, all] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    name => `${headerIn(headers, name) ?? ''}`,
  ) as [string, string, string];
  const digests = all
    .split(' ')
    .filter(part => schemes[scheme].test(part))
    .map(part => fromBase64(part.slice(scheme.length + 1)));
  if (!id || !/^\d{1,12}$/.test(atSec) || digests.length === 0)
    throw refused('signature_malformed', `The header webhook-signature is not ${scheme},<base64>.`);
  return { atSec, digests, prefix: `${id}.${atSec}.`, keyOf: standardKey };
}

const refused = (code: string, message: string) => new SignatureError(message, { code });

function bytesOf(rawBody: string | Uint8Array, caller: string): Uint8Array {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (rawBody instanceof Uint8Array) return rawBody;
  throw new TypeError(`${caller} needs the body as it came (string or Uint8Array), not parsed JSON`);
}

/** What was signed. */
function signedBytes(prefix: string, body: Uint8Array): Bytes {
  const first = new TextEncoder().encode(prefix);
  const all = new Uint8Array(first.length + body.length);
  all.set(first);
  all.set(body, first.length);
  return all;
}

/** Of a body whose signature is right. */
function parseEvent(body: Uint8Array): PaymentEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch (cause) {
    throw new SignatureError('The body is not JSON.', { code: 'body_malformed', cause });
  }
}

/** Also in the alphabet of base64url, which a JSON Web Key and older secrets have. */
const fromBase64 = (text: string): Bytes =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), character => character.charCodeAt(0));
