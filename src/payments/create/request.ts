import { createHash } from 'node:crypto';
import { canonicalJson, type JsonObject } from '../../base/json.ts';
import { parseQrLink } from '../../base/qr.ts';

/** What a partner asks for, read and checked for shape. */
export interface PaymentRequest {
  qrUrl: string;
  amountKopecks: bigint | undefined;
  externalId: string | null;
  metadata: JsonObject;
  idempotencyKey: string;
}

/** Two requests with the same hash mean the same, however they are written. */
export function hashRequest(request: PaymentRequest, qrHosts: readonly string[]): Buffer {
  const link = parseQrLink(request.qrUrl, qrHosts);
  const meaning = JSON.stringify([
    link.kind === 'sbp' ? link.url : request.qrUrl,
    request.amountKopecks?.toString() ?? null,
    request.externalId,
    canonicalJson(request.metadata),
  ]);
  return createHash('sha256').update(meaning).digest();
}
