import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { HDKey } from '@scure/bip32';
import { decodeBase58Check, encodeBase58Check } from '../../base/base58.ts';
import type { Clock } from '../../base/clock.ts';
import { type DepositChainSettings, depositSetting } from '../../base/deposit-settings.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { refuseSetting } from '../../base/operator-error.ts';
import type { DepositChain, DerivedAddress } from './deposit-chain.ts';
import { openRpc } from './json-rpc.ts';
import { openNode } from './node.ts';

const tronPrefix = 0x41;

export function openChain(
  { rpcUrls, xpub, contract, ...chain }: DepositChainSettings,
  clock: Clock,
): DepositChain {
  const { name, form } = chain;
  const master = openXpub(depositSetting(name, 'XPUB'), xpub);
  const contractAccount = parseAccount(form, contract);
  if (contractAccount === undefined)
    refuseSetting(depositSetting(name, 'CONTRACT'), `must be an address of ${chain.title} with its checksum`);
  const formatAccount = (account: string) => formatAddress(form, account);
  return {
    ...chain,
    nodes: rpcUrls.map((url, nth) => {
      const label = `${name} node ${nth + 1}`;
      return openNode(openRpc(clock, url, label), label);
    }),
    contractAccount: contractAccount!,
    formatAccount,
    deriveAddress: partnerId => derive(master, partnerId, formatAccount),
  };
}

function openXpub(setting: string, text: string): HDKey {
  try {
    const key = HDKey.fromExtendedKey(text);
    if (!key.privateKey) return key;
  } catch {
    // The message of the library may repeat the key.
  }
  return refuseSetting(setting, 'must be an extended public key (xpub…) of the curve secp256k1');
}

/**
 * Two steps of 31 bits from a digest of the partner's id. A counter in the database would be given out twice after rows
 * were lost, and a partner's deposit would go to another; this is the same forever, without any record.
 */
function pathOf(partnerId: Id<'prt'>): string {
  const digest = createHash('sha256').update(uuidFromId(partnerId)).digest();
  return `m/${digest.readUInt32BE(0) >>> 1}/${digest.readUInt32BE(4) >>> 1}`;
}

function derive(master: HDKey, partnerId: Id<'prt'>, format: (account: string) => string): DerivedAddress {
  const path = pathOf(partnerId);
  const account = accountOfPublicKey(master.derive(path).publicKey!);
  return { address: format(account), account, path };
}

/** The last 20 bytes of the Keccak-256 of the uncompressed public key, without its first byte. */
export function accountOfPublicKey(publicKey: Uint8Array): string {
  const point = secp256k1.Point.fromBytes(publicKey).toBytes(false);
  return `0x${Buffer.from(keccak_256(point.subarray(1)))
    .subarray(-20)
    .toString('hex')}`;
}

/** The letters whose place in the digest of the address has a value of 8 or more are capitals (EIP-55). */
function withChecksum(account: string): string {
  const digits = account.slice(2);
  const digest = Buffer.from(keccak_256(Buffer.from(digits))).toString('hex');
  const isCapital = (place: number) => Number.parseInt(digest[place]!, 16) >= 8;
  return `0x${Array.from(digits, (digit, place) => (isCapital(place) ? digit.toUpperCase() : digit)).join('')}`;
}

export const formatAddress = (form: DepositChain['form'], account: string) =>
  form === 'hex'
    ? withChecksum(account)
    : encodeBase58Check(Buffer.from([tronPrefix, ...Buffer.from(account.slice(2), 'hex')]));

/** An address with its checksum as an account; undefined if it is not one. */
export function parseAccount(form: DepositChain['form'], address: string): string | undefined {
  if (form === 'hex') {
    const account = address.toLowerCase();
    return /^0x[0-9a-f]{40}$/.test(account) && withChecksum(account) === address ? account : undefined;
  }
  const payload = decodeBase58Check(address);
  const isTron = payload?.length === 21 && payload[0] === tronPrefix;
  return isTron ? `0x${payload.subarray(1).toString('hex')}` : undefined;
}
