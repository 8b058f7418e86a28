import {
  bytesOf,
  fromBase64,
  parseEvent,
  type RequestHeaders,
  readStandardHeaders,
  refused,
  signedBytes,
} from './signed-request.ts';
import type { PaymentEvent } from './types.ts';

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
  const { prefix, signatures } = readStandardHeaders(headers, 'v1a');
  const signed = signedBytes(prefix, body);
  for (const { x } of usable) {
    const key = await crypto.subtle.importKey('raw', bytesOfKey(x), 'Ed25519', false, ['verify']);
    for (const signature of signatures)
      if (await crypto.subtle.verify('Ed25519', key, signature, signed)) return parseEvent(body);
  }
  throw refused(
    'signature_mismatch',
    'No signature matches: other keys, or the body or a header was changed.',
  );
}

/** A JSON Web Key has it in base64url. */
const bytesOfKey = (x: string) => fromBase64(x.replaceAll('-', '+').replaceAll('_', '/'));
