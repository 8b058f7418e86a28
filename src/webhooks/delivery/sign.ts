import { createHmac } from 'node:crypto';

const digestOf = (secret: string, signed: string) =>
  createHmac('sha256', secret).update(signed).digest('hex');

/** The header `X-Service-Signature`: one digest of the exact bytes per valid secret. */
export function sign(secrets: string[], atSec: number, body: string): string {
  return [`t=${atSec}`, ...secrets.map(secret => `v1=${digestOf(secret, `${atSec}.${body}`)}`)].join(',');
}
