import { createHmac, timingSafeEqual } from 'node:crypto';

const toleranceSec = 300;

/** What a receiver does with the header `X-Service-Signature`, as the contract describes it. */
export function verifySignature(secret: string, header: string, body: string, nowSec: number): boolean {
  const parts = header.split(',').map(part => part.split('=', 2));
  const atSec = Number(parts.find(([name]) => name === 't')?.[1]);
  if (!Number.isInteger(atSec) || Math.abs(nowSec - atSec) > toleranceSec) return false;
  const expected = Buffer.from(createHmac('sha256', secret).update(`${atSec}.${body}`).digest('hex'));
  return parts
    .filter(([name]) => name === 'v1')
    .map(([, digest = '']) => Buffer.from(digest))
    .some(digest => digest.length === expected.length && timingSafeEqual(digest, expected));
}
