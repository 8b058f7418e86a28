import { hash } from 'node:crypto';
import type { AccountKey } from '../../ledger/index.ts';
import { formatInstant } from '../../payments/index.ts';
import type { PublicKey } from './signing-keys.ts';

/** Where everybody can read the public keys of a partner in one mode. */
export const keySetPath = ({ partnerId, mode }: { partnerId: string; mode: string }) =>
  `/.well-known/webhook-keys/${partnerId}/${mode}`;

/** Those of an endpoint: the first one of a partner gets the events of both modes. Checks of an endpoint are in test mode. */
export const keySetPathsOf = ({ partnerId, ed25519 }: { partnerId: string; ed25519: boolean }) =>
  ed25519 ? ['live', 'test'].map(mode => keySetPath({ partnerId, mode })) : [];

export const keySetObject = ({ partnerId, mode }: AccountKey, keys: PublicKey[]) => ({
  partner_id: partnerId,
  mode,
  keys: keys.map(keyObject),
});

/** A JSON Web Key (RFC 8037), with the same key in the form of Standard Webhooks. */
function keyObject({ publicKey, createdAt, signsFrom }: PublicKey) {
  const x = publicKey.toString('base64url');
  return {
    kty: 'OKP',
    crv: 'Ed25519',
    alg: 'EdDSA',
    use: 'sig',
    // The thumbprint (RFC 7638): no two keys share it, also those of two modes.
    kid: hash('sha256', JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }), 'base64url'),
    x,
    standard_webhooks: `whpk_${publicKey.toString('base64')}`,
    created_at: formatInstant(createdAt),
    signs_from: formatInstant(signsFrom),
  };
}
