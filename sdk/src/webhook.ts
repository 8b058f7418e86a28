import {
  type Bytes,
  bytesOf,
  fromBase64,
  type HeaderValue,
  headerIn,
  parseEvent,
  type RequestHeaders,
  readStandardHeaders,
  refused,
  signedBytes,
} from './signed-request.ts';
import type { PaymentEvent } from './types.ts';

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

interface Signature {
  atSec: string;
  digests: Bytes[];
  /** What is signed before the body. */
  prefix: string;
  keyOf(secret: string): Bytes;
}

function readSignature(header: HeaderValue | RequestHeaders): Signature {
  if (typeof header !== 'object' || header === null || Array.isArray(header)) return readHeader(header);
  const own = headerIn(header, signatureHeader);
  return own || !headerIn(header, 'webhook-signature') ? readHeader(own) : readStandard(header);
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

/** One signature for each secret. */
function readStandard(headers: RequestHeaders): Signature {
  const { atSec, prefix, signatures } = readStandardHeaders(headers, 'v1');
  return { atSec, digests: signatures, prefix, keyOf: standardKey };
}

/** What follows `whsec_`; older secrets are in the alphabet of base64url. */
function standardKey(secret: string): Bytes {
  try {
    return fromBase64(secret.replace('whsec_', '').replaceAll('-', '+').replaceAll('_', '/'));
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
