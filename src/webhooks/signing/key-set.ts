import { formatInstant } from '../../payments/index.ts';
import type { PublicKey } from './signing-keys.ts';

/** Where everybody can read the public keys. */
export const keySetPath = '/.well-known/webhook-keys.json';

/** In the form of Standard Webhooks. */
export const formatPublicKey = ({ publicKey }: Pick<PublicKey, 'publicKey'>) =>
  `whpk_${publicKey.toString('base64')}`;

/** A JSON Web Key (RFC 8037), with the same key in the form of Standard Webhooks. */
export const keyObject = (key: PublicKey) => ({
  kty: 'OKP',
  crv: 'Ed25519',
  alg: 'EdDSA',
  use: 'sig',
  kid: key.keyId,
  x: key.publicKey.toString('base64url'),
  standard_webhooks: formatPublicKey(key),
  created_at: formatInstant(key.createdAt),
  signs_from: formatInstant(key.signsFrom),
});
