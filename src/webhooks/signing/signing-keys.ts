import { createPrivateKey, createPublicKey, hash, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { createBoundedCache } from '../../base/bounded-cache.ts';
import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, newId, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { hasRow, type Queryable, readRows, transaction, withIds } from '../../db/postgres/index.ts';
import { createSealer, type Keyring, purposes } from '../../db/secrets/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { formatInstant } from '../../payments/index.ts';

/**
 * A root, from which the keys are derived that sign webhooks of endpoints which ask for it. Every partner has its own key in each
 * mode: `v1a` of Standard Webhooks signs no name of the receiver, and with one key for all, what one partner received would be
 * proof for every other.
 */
export interface SigningRoot {
  keyId: Id<'wsk'>;
  createdAt: Date;
  signsFrom: Date;
}

/** The public half of a partner's key in one mode. */
export interface PublicKey extends Omit<SigningRoot, 'keyId'> {
  /** 32 bytes. */
  publicKey: Buffer;
}

/** Receivers see a new key this long before it signs, longer than anybody keeps the list. */
const announcedMs = 60_000;

/** All of them, the newest first. */
async function readRoots(db: Queryable) {
  const rows = await readRows(db, {
    name: 'read signing keys',
    text: `SELECT id AS "keyId", private_key AS sealed, created_at AS "createdAt", signs_from AS "signsFrom"
             FROM signing_keys ORDER BY signs_from DESC, id DESC LIMIT 100`,
  });
  return rows.map(withIds<SigningRoot & { sealed: Buffer }>({ keyId: 'wsk' }));
}

export const listSigningRoots = async (db: Queryable): Promise<SigningRoot[]> =>
  (await readRoots(db)).map(({ sealed: _, ...root }) => root);

const sealerOf = (keyring: Keyring) => createSealer(keyring, purposes.signingKeys);

/** A new root. Its keys sign at once if there is no other, otherwise in a minute. */
export function addSigningRoot(audit: AuditContext, keyring: Keyring): Promise<SigningRoot> {
  return transaction(audit.pool, async tx =>
    insertRoot(tx, audit, keyring, (await hasRoot(tx)) ? announcedMs : 0),
  );
}

/** The first endpoint that asks for signatures makes the first root. */
export async function ensureSigningRoot(tx: Queryable, audit: AuditContext, keyring: Keyring): Promise<void> {
  if (!(await hasRoot(tx))) await insertRoot(tx, audit, keyring, 0);
}

const hasRoot = (tx: Queryable) => hasRow(tx, { text: 'SELECT FROM signing_keys LIMIT 1' });

async function insertRoot(
  tx: Queryable,
  audit: AuditContext,
  keyring: Keyring,
  afterMs: number,
): Promise<SigningRoot> {
  const keyId = newId('wsk', audit.clock);
  const sealed = sealerOf(keyring).seal(randomBytes(32), keyId);
  const createdAt = instantOf(audit.clock);
  const signsFrom = new Date(createdAt.getTime() + afterMs);
  await tx.query({
    text: 'INSERT INTO signing_keys (id, private_key, created_at, signs_from) VALUES ($1, $2, $3, $4)',
    values: [uuidFromId(keyId), sealed, createdAt, signsFrom],
  });
  await recordChange(tx, audit, {
    action: 'signing_key.add',
    subject: keyId,
    after: { signs_from: signsFrom },
  });
  return { keyId, createdAt, signsFrom };
}

const readAgainAfterMs = 5_000;

/** One for each root, partner and mode: 3 MB. */
const maxPublicKeys = 10_000;

export type SigningKeys = ReturnType<typeof createSigningKeys>;

/** Remembers the roots for some seconds: they are needed for every event of such an endpoint, and anybody may ask for public keys. */
export function createSigningKeys(
  db: Queryable,
  clock: Clock,
  keyring: Keyring,
  log: { error(details: object, message: string): void },
) {
  /** Anybody may ask for them, and a derivation takes longer than the rest of the answer. A root never changes. */
  const publicKeys = createBoundedCache<Buffer>(maxPublicKeys);
  let known: { roots: ReturnType<typeof read>; untilMs: number } | undefined;

  /** A root is decrypted when it is needed: an old one that cannot be does not keep the newest from signing. */
  async function read() {
    return (await readRoots(db)).map(({ sealed, ...root }) => {
      let secret: Buffer | undefined;
      const keyOf = (receiver: AccountKey): KeyObject => {
        secret ??= sealerOf(keyring).unseal(sealed, root.keyId);
        return deriveKey(secret, receiver);
      };
      return { ...root, keyOf, isBroken: false };
    });
  }

  /** Undefined if the root cannot be decrypted. It is not tried again until the roots are read again: others call this. */
  function publicKeyOf(root: Awaited<ReturnType<typeof read>>[number], receiver: AccountKey) {
    const name = `${root.keyId} ${receiver.partnerId} ${receiver.mode}`;
    let publicKey = publicKeys.get(name);
    if (publicKey || root.isBroken) return publicKey;
    try {
      publicKey = rawPublicKey(root.keyOf(receiver));
    } catch (error) {
      root.isBroken = true;
      log.error({ err: error, keyId: root.keyId }, 'a signing key cannot be decrypted and is not listed');
      return undefined;
    }
    publicKeys.set(name, publicKey);
    return publicKey;
  }

  function roots(): ReturnType<typeof read> {
    const nowMs = clock.monotonicMs();
    if (known && nowMs < known.untilMs) return known.roots;
    const reading = read();
    known = { roots: reading, untilMs: nowMs + readAgainAfterMs };
    const forget = () => {
      if (known?.roots === reading) known = undefined;
    };
    // That there is none is not remembered: the first one signs at once.
    reading.then(found => found.length === 0 && forget(), forget);
    return reading;
  }

  return {
    /** The key that signs now for the partner and mode. Fails if there is none, or if it cannot be decrypted. */
    current: async (receiver: AccountKey) => {
      const root = (await roots()).find(({ signsFrom }) => signsFrom <= instantOf(clock));
      if (!root) throw new Error('there is no key to sign webhooks with');
      return root.keyOf(receiver);
    },
    /** All public keys of the partner and mode, the newest first, without those of roots that cannot be decrypted. */
    listPublic: async (receiver: AccountKey): Promise<PublicKey[]> =>
      (await roots()).flatMap(root => {
        const publicKey = publicKeyOf(root, receiver);
        return publicKey ? [{ publicKey, createdAt: root.createdAt, signsFrom: root.signsFrom }] : [];
      }),
  };
}

/** PKCS #8 of an Ed25519 key, up to its 32 bytes (RFC 8410, 7). */
const beforeSeed = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The text is part of every key: changing it makes all signatures unverifiable. */
function deriveKey(secret: Buffer, { partnerId, mode }: AccountKey): KeyObject {
  const seed = hkdfSync('sha256', secret, '', `kopeck webhooks ${partnerId} ${mode}`, 32);
  const der = Buffer.concat([beforeSeed, Buffer.from(seed)]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

const rawPublicKey = (privateKey: KeyObject) =>
  Buffer.from(createPublicKey(privateKey).export({ format: 'jwk' }).x!, 'base64url');

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
