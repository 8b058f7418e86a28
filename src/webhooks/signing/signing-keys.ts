import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, idFromUuid, newId, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit.ts';
import type { Keyring } from '../../db/keyring.ts';
import { type Queryable, transaction } from '../../db/pool.ts';
import { purposes } from '../../db/sealed-values.ts';
import { createSealer } from '../../db/sealing.ts';

/**
 * The keys with which the service signs webhooks, for endpoints that ask for it. Unlike a secret that both sides know, such a
 * signature proves to others that the service sent the event.
 */
export interface PublicKey {
  keyId: Id<'wsk'>;
  /** 32 bytes. */
  publicKey: Buffer;
  createdAt: Date;
  signsFrom: Date;
}

/** Receivers see a new key this long before it signs, longer than anybody keeps the list. */
const announcedMs = 60_000;

interface KeyRow {
  id: string;
  public_key: Buffer;
  created_at: Date;
  signs_from: Date;
}

const toPublicKey = (row: KeyRow): PublicKey => ({
  keyId: idFromUuid('wsk', row.id),
  publicKey: row.public_key,
  createdAt: row.created_at,
  signsFrom: row.signs_from,
});

/** All of them, the newest first. */
export async function listPublicKeys(db: Queryable): Promise<PublicKey[]> {
  const { rows } = await db.query<KeyRow>({
    text: 'SELECT id, public_key, created_at, signs_from FROM signing_keys ORDER BY signs_from DESC, id DESC LIMIT 100',
  });
  return rows.map(toPublicKey);
}

const sealerOf = (keyring: Keyring) => createSealer(keyring, purposes.signingKeys);

/** A new key. It signs at once if there is no other, otherwise in a minute. */
export function addSigningKey(audit: AuditContext, keyring: Keyring): Promise<PublicKey> {
  return transaction(audit.pool, async tx => {
    const { rows } = await tx.query<{ exists: boolean }>({
      text: 'SELECT EXISTS (SELECT FROM signing_keys) AS exists',
    });
    return insertKey(tx, audit, keyring, rows[0]!.exists ? announcedMs : 0);
  });
}

/** The first endpoint that asks for signatures makes the first key. */
export async function ensureSigningKey(tx: Queryable, audit: AuditContext, keyring: Keyring): Promise<void> {
  const keys = await listPublicKeys(tx);
  if (keys.length === 0) await insertKey(tx, audit, keyring, 0);
}

async function insertKey(
  tx: Queryable,
  audit: AuditContext,
  keyring: Keyring,
  afterMs: number,
): Promise<PublicKey> {
  const keyId = newId('wsk', audit.clock);
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url');
  const sealed = sealerOf(keyring).seal(privateKey.export({ format: 'der', type: 'pkcs8' }), keyId);
  const createdAt = instantOf(audit.clock);
  const signsFrom = new Date(createdAt.getTime() + afterMs);
  await tx.query({
    text: 'INSERT INTO signing_keys (id, public_key, private_key, created_at, signs_from) VALUES ($1, $2, $3, $4, $5)',
    values: [uuidFromId(keyId), raw, sealed, createdAt, signsFrom],
  });
  await recordChange(tx, audit, {
    action: 'signing_key.add',
    subject: keyId,
    after: { signs_from: signsFrom },
  });
  return { keyId, publicKey: raw, createdAt, signsFrom };
}

export interface SigningKeys {
  /** The key that signs now. Fails if there is none, or if it cannot be decrypted. */
  current(): Promise<KeyObject>;
}

const readAgainAfterMs = 5_000;

/** Remembers the key for some seconds: it is needed for every event of such an endpoint. */
export function createSigningKeys(db: Queryable, clock: Clock, keyring: Keyring): SigningKeys {
  let known: { key: Promise<KeyObject>; untilMs: number } | undefined;

  async function read(): Promise<KeyObject> {
    const { rows } = await db.query<{ id: string; private_key: Buffer }>({
      name: 'find signing key',
      text: `SELECT id, private_key FROM signing_keys WHERE signs_from <= $1
              ORDER BY signs_from DESC, id DESC LIMIT 1`,
      values: [instantOf(clock)],
    });
    const [row] = rows;
    if (!row) throw new Error('there is no key to sign webhooks with');
    const der = sealerOf(keyring).unseal(row.private_key, idFromUuid('wsk', row.id));
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  }

  return {
    current: () => {
      const nowMs = clock.monotonicMs();
      if (known && nowMs < known.untilMs) return known.key;
      const key = read();
      known = { key, untilMs: nowMs + readAgainAfterMs };
      key.catch(() => {
        if (known?.key === key) known = undefined;
      });
      return key;
    },
  };
}
