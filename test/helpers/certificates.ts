import { generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { isIPv4 } from 'node:net';

/**
 * Certificates for receivers in tests, signed by an untrusted authority. Node can read certificates but not write them,
 * so this file encodes the DER parts itself.
 */
export interface Issued {
  key: string;
  cert: string;
}

export interface Authority {
  ca: string;
  issue(names: string[], validUntil?: Date): Issued;
}

export function createAuthority(): Authority {
  const keys = newKeys();
  const name = 'Kopeck test authority';
  const self = writeCertificate({
    subject: name,
    issuer: name,
    keys,
    signer: keys.privateKey,
    isAuthority: true,
  });
  return {
    ca: self.cert,
    issue: (names, validUntil) =>
      writeCertificate({
        subject: 'receiver',
        issuer: name,
        keys: newKeys(),
        signer: keys.privateKey,
        names,
        ...(validUntil ? { validUntil } : {}),
      }),
  };
}

/** A self-signed certificate. */
export function issueSelfSigned(names: string[]): Issued {
  const keys = newKeys();
  return writeCertificate({ subject: 'self', issuer: 'self', keys, signer: keys.privateKey, names });
}

interface Keys {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

const newKeys = (): Keys => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

interface Plan {
  subject: string;
  issuer: string;
  keys: Keys;
  signer: KeyObject;
  names?: string[];
  validUntil?: Date;
  isAuthority?: boolean;
}

const dayMs = 86_400_000;
let lastSerial = 0;

function writeCertificate(plan: Plan): Issued {
  const { keys, names = [], validUntil = new Date(Date.now() + 30 * dayMs) } = plan;
  const algorithm = sequence(objectId('2a8648ce3d040302'));
  const validFrom = new Date(Math.min(Date.now(), validUntil.getTime()) - dayMs);
  const extensions = [
    ...(plan.isAuthority ? [extension('551d13', sequence(der(0x01, Buffer.from([0xff]))))] : []),
    ...(names.length > 0 ? [extension('551d11', sequence(...names.map(alternativeName)))] : []),
  ];
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([++lastSerial])),
    algorithm,
    commonName(plan.issuer),
    sequence(time(validFrom), time(validUntil)),
    commonName(plan.subject),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', content, plan.signer);
  const whole = sequence(content, algorithm, der(0x03, Buffer.from([0]), signature));
  return {
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: new X509Certificate(whole).toString(),
  };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const commonName = (name: string) =>
  sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(name)))));
const extension = (id: string, value: Buffer) => sequence(objectId(id), der(0x04, value));
const time = (at: Date) => der(0x17, Buffer.from(`${at.toISOString().replace(/\D/g, '').slice(2, 14)}Z`));

const alternativeName = (name: string) =>
  isIPv4(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name));
