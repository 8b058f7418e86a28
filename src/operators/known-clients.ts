import { createHmac, timingSafeEqual } from 'node:crypto';
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { hashOfToken, isToken, newToken } from '../base/token.ts';
import { hasRow, type Pool, type Queryable, readRows } from '../db/postgres/index.ts';
import type { Keyring, SecretKey } from '../db/secrets/index.ts';

/** How long a device or an address stays known after its last sign-in. */
const knownForMs = 90 * 86_400_000;
/** Per operator and kind, the newest first: more known clients would mean more guesses. */
const maxKnown = 20;
const knownSince = (clock: Clock) => new Date(clock.nowMs() - knownForMs);

/** IPv6 is counted by /64 network: a client with one IPv6 address usually has the whole network. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return address;
  const prefix = parsed.parts.slice(0, 4).map(part => part.toString(16));
  return `${prefix.join(':')}::/64`;
}

const signatureOf = (key: SecretKey, name: string, token: string) =>
  createHmac('sha256', key.derive('operator devices')).update(`${name} ${token}`).digest();

const newDeviceToken = (keyring: Keyring, name: string) => {
  const token = newToken();
  return `${token}.${signatureOf(keyring.active(), name, token).toString('base64url')}`;
};

const hashOf = (deviceToken: string) => hashOfToken(deviceToken).toString('hex');

/**
 * The hash of a device token that was made for this name. Forged ones and those of other operators are found out here,
 * without the database.
 */
function signedDevice(keys: readonly SecretKey[], name: string, deviceToken: string | undefined) {
  const [token = '', signature = '', ...rest] = deviceToken?.split('.') ?? [];
  if (!isToken(token) || !isToken(signature) || rest.length > 0) return undefined;
  const isSigned = keys.some(key =>
    timingSafeEqual(Buffer.from(signature, 'base64url'), signatureOf(key, name, token)),
  );
  return isSigned ? hashOf(deviceToken!) : undefined;
}

/** The hash of the device token, if the operator of this name has signed in with it and it was not revoked. */
export async function findKnownDevice(
  { pool, clock, keyring }: { pool: Pool; clock: Clock; keyring: Keyring },
  name: string,
  deviceToken: string | undefined,
): Promise<string | undefined> {
  const hash = signedDevice(keyring.keys, name, deviceToken);
  if (!hash) return undefined;
  const isKnown = await hasRow(pool, {
    text: `SELECT FROM known_clients k JOIN operators o ON o.id = k.operator_id
            WHERE o.name = $1 AND k.kind = 'device' AND k.value = $2 AND k.last_sign_in_at > $3`,
    values: [name, hash, knownSince(clock)],
  });
  return isKnown ? hash : undefined;
}

/** Short, because another process may have revoked an address meanwhile. */
const cacheMs = 1_000;
/** Per process: a flood of attempts from many addresses costs one query a second. */
const cached = new WeakMap<Pool, { readAtMs: number; addresses: Promise<Set<string>> }>();

/**
 * Whether any operator has signed in from this network. Not asked per name: the answer would show who signs in from an
 * address to others who share it.
 */
export async function isKnownNetwork(pool: Pool, clock: Clock, network: string): Promise<boolean> {
  const nowMs = clock.nowMs();
  const found = cached.get(pool);
  if (found && nowMs >= found.readAtMs && nowMs < found.readAtMs + cacheMs)
    return (await found.addresses).has(network);
  const addresses = readAddresses(pool, clock);
  cached.set(pool, { readAtMs: nowMs, addresses });
  addresses.catch(() => cached.delete(pool));
  return (await addresses).has(network);
}

async function readAddresses(pool: Pool, clock: Clock): Promise<Set<string>> {
  const rows = await readRows<{ value: string }>(pool, {
    text: `SELECT DISTINCT value FROM known_clients WHERE kind = 'address' AND last_sign_in_at > $1`,
    values: [knownSince(clock)],
  });
  return new Set(rows.map(({ value }) => value));
}

interface SignedInFrom {
  operatorId: Id<'opr'>;
  name: string;
  client: { address: string; deviceToken?: string | undefined };
}

/**
 * Runs in the transaction of the sign-in. The device keeps its token, so that concurrent sign-ins do not revoke it; one that
 * was signed with an earlier secret key gets a new one, and the old stays known as well.
 */
export async function rememberClient(
  tx: Queryable,
  { pool, clock, keyring }: { pool: Pool; clock: Clock; keyring: Keyring },
  { operatorId, name, client }: SignedInFrom,
): Promise<{ deviceToken: string }> {
  const id = uuidFromId(operatorId);
  const hash = signedDevice([keyring.active()], name, client.deviceToken);
  const isKnown = await hasRow(tx, {
    text: `SELECT FROM known_clients WHERE operator_id = $1 AND kind = 'device' AND value = $2`,
    values: [id, hash ?? null],
  });
  const deviceToken = isKnown ? client.deviceToken! : newDeviceToken(keyring, name);
  await tx.query({
    text: `INSERT INTO known_clients (operator_id, kind, value, last_sign_in_at)
           VALUES ($1, 'device', $2, $4), ($1, 'address', $3, $4)
           ON CONFLICT (operator_id, kind, value) DO UPDATE SET last_sign_in_at = excluded.last_sign_in_at`,
    values: [id, hashOf(deviceToken), networkOf(client.address), instantOf(clock)],
  });
  await forgetOldClients(tx, clock, id);
  cached.delete(pool);
  return { deviceToken };
}

const forgetOldClients = (tx: Queryable, clock: Clock, operatorId: string) =>
  tx.query({
    text: `DELETE FROM known_clients k USING (
             SELECT kind, value, row_number() OVER (PARTITION BY kind ORDER BY last_sign_in_at DESC, value) AS place
               FROM known_clients WHERE operator_id = $1) old
            WHERE k.operator_id = $1 AND k.kind = old.kind AND k.value = old.value
              AND (old.place > $2 OR k.last_sign_in_at <= $3)`,
    values: [operatorId, maxKnown, knownSince(clock)],
  });

/** A device that has used up its allowance may be in the wrong hands. */
export const forgetDevice = (tx: Queryable, deviceHash: string) =>
  tx.query({ text: `DELETE FROM known_clients WHERE kind = 'device' AND value = $1`, values: [deviceHash] });

/** Runs in the transaction of the change that revokes the operator's access. */
export const forgetAllClients = (tx: Queryable, operatorId: Id<'opr'>) =>
  tx.query({ text: 'DELETE FROM known_clients WHERE operator_id = $1', values: [uuidFromId(operatorId)] });
