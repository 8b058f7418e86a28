import type { Clock } from '../../base/clock.ts';
import { parseQrLink } from '../../base/qr.ts';
import type { Gateway, Requester, Resolution } from '../../gateway/index.ts';
import type { Mode } from '../../ledger/index.ts';

/** A QR code that can be paid, as the gateway described it just now. */
export interface PayableQr {
  qrcId: string;
  qrUrl: string;
  recipient: string;
  recipientId: string;
  amountKopecks: bigint;
  purpose: string;
  fingerprint: string;
}

export type QrRefusalCode =
  | Exclude<Resolution['outcome'], 'resolved'>
  | 'unsupported_qr'
  | 'unsupported_variable_amount';

export type QrResolution =
  | { outcome: 'payable'; qr: PayableQr }
  | { outcome: 'refused'; code: QrRefusalCode };

export interface ResolveDeps {
  clock: Clock;
  gateway: Gateway;
  qrHosts: readonly string[];
}

const refused = (code: QrRefusalCode): QrResolution => ({ outcome: 'refused', code });

/** In test mode the gateway is not called: any well-formed link can be paid, and `wantedKopecks` fills in a missing sum. */
export async function resolveQr(
  { gateway, qrHosts }: ResolveDeps,
  caller: Requester & { mode: Mode },
  link: string,
  wantedKopecks?: bigint,
): Promise<QrResolution> {
  const parsed = parseQrLink(link, qrHosts);
  if (parsed.kind === 'invalid') return refused('invalid_qr');
  if (parsed.kind === 'subscription') return refused('unsupported_qr');
  const { qrcId, url: qrUrl } = parsed;
  if (caller.mode === 'test') {
    const amountKopecks = parsed.sumKopecks ?? wantedKopecks;
    if (amountKopecks === undefined) return refused('unsupported_variable_amount');
    const qr = { qrcId, qrUrl, amountKopecks, ...testRecipient };
    return { outcome: 'payable', qr };
  }

  const resolution = await gateway.resolve(qrUrl, caller);
  if (resolution.outcome !== 'resolved') return refused(resolution.outcome);
  const { qr } = resolution;
  // The gateway has answered about another QR code.
  if (qr.qrcId !== qrcId) return refused('qr_unresolvable');
  if (!['C2B', 'C2B_CASH_REGISTER', 'C2B_OPEN_SUM'].includes(qr.scenario)) return refused('unsupported_qr');
  if (qr.scenario === 'C2B_OPEN_SUM' || qr.amountKopecks === null)
    return refused('unsupported_variable_amount');
  const { recipient, recipientId, amountKopecks, purpose, fingerprint } = qr;
  return {
    outcome: 'payable',
    qr: { qrcId, qrUrl, recipient, recipientId, amountKopecks, purpose, fingerprint },
  };
}

/** Every payment in test mode has this one. */
export const testRecipient = {
  recipient: 'Test recipient',
  recipientId: 'test',
  purpose: 'Test payment',
  fingerprint: 'test',
};
