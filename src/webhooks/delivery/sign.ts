import { createHmac, timingSafeEqual } from 'node:crypto';

const digestOf = (secret: string, signed: string) =>
  createHmac('sha256', secret).update(signed).digest('hex');

/** The header `X-Service-Signature`: one digest of the exact bytes for every secret that is in force. */
export function sign(secrets: string[], atSec: number, body: string): string {
  return [`t=${atSec}`, ...secrets.map(secret => `v1=${digestOf(secret, `${atSec}.${body}`)}`)].join(',');
}

const toleranceSec = 300;

/** What a receiver does with it. Here for whoever checks us; partners have the same in their own language. */
export function verifySignature(secret: string, header: string, body: string, nowSec: number): boolean {
  const parts = header.split(',').map(part => part.split('=', 2));
  const atSec = Number(parts.find(([name]) => name === 't')?.[1]);
  if (!Number.isInteger(atSec) || Math.abs(nowSec - atSec) > toleranceSec) return false;
  const expected = Buffer.from(digestOf(secret, `${atSec}.${body}`));
  return parts
    .filter(([name]) => name === 'v1')
    .map(([, digest = '']) => Buffer.from(digest))
    .some(digest => digest.length === expected.length && timingSafeEqual(digest, expected));
}
