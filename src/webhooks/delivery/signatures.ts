import { createHmac, type KeyObject, sign as signWithKey } from 'node:crypto';

const digestOf = (secret: string, signed: string) =>
  createHmac('sha256', secret).update(signed).digest('hex');

/** The header `X-Service-Signature`: one digest of the exact bytes per valid secret. */
export function sign(secrets: string[], atSec: number, body: string): string {
  return [`t=${atSec}`, ...secrets.map(secret => `v1=${digestOf(secret, `${atSec}.${body}`)}`)].join(',');
}

/** The headers of Standard Webhooks, which every request carries beside those of the contract. */
export interface StandardHeaders {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
}

interface Message {
  /** The event id: the same for each attempt and each endpoint, as the body says it. */
  id: string;
  atSec: number;
  body: string;
}

const prefix = 'whsec_';

/**
 * The key in a secret: what follows the prefix, in base64. The contract signs with the text of the secret instead, so the two
 * signatures have different keys. Older secrets are in the alphabet of base64url, which is the same bytes.
 */
const keyOf = (secret: string) =>
  Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, 'base64');

/** A secret in the form that libraries of Standard Webhooks read. New secrets are in it already. */
export const standardSecret = (secret: string) => `${prefix}${keyOf(secret).toString('base64')}`;

/** One signature per valid secret and, with a private key, one that others can verify too. */
export function standardHeaders(
  secrets: string[],
  { id, atSec, body }: Message,
  privateKey?: KeyObject,
): StandardHeaders {
  const signed = `${id}.${atSec}.${body}`;
  const signatures = secrets.map(
    secret => `v1,${createHmac('sha256', keyOf(secret)).update(signed).digest('base64')}`,
  );
  if (privateKey)
    signatures.push(`v1a,${signWithKey(null, Buffer.from(signed), privateKey).toString('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': `${atSec}`, 'webhook-signature': signatures.join(' ') };
}
