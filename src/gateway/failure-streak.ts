/** Who asked about what. A bad QR code says nothing about the gateway, however often some partners ask about it. */
export interface FailureSource {
  partner: string;
  qr: string;
}

/** Failures of which sources may be the cause count only if they come from at least this many. */
const minPartners = 2;
const minQrs = 3;
/** More are not remembered: such partners count as failed, such codes do not. */
const maxPartners = 10_000;
const maxQrs = 1_000;

/** Failures in a row, without a success between them. */
export function newStreak(sinceMs: number) {
  let length = 0;
  let hasCertain = false;
  const partners = new Set<string>();
  const qrs = new Set<string>();
  return {
    /** When it could begin: the time of the last success. */
    sinceMs,
    add: (source: FailureSource | undefined, canBeCause: boolean) => {
      length += 1;
      if (!source || !canBeCause) hasCertain = true;
      if (!source) return;
      if (partners.size < maxPartners) partners.add(source.partner);
      if (qrs.size < maxQrs) qrs.add(source.qr);
    },
    length: () => length,
    /** One of them cannot be the fault of a source. */
    hasCertain: () => hasCertain,
    isShared: () => partners.size >= minPartners && qrs.size >= minQrs,
    hasPartner: ({ partner }: FailureSource) => partners.size === maxPartners || partners.has(partner),
    hasQr: ({ qr }: FailureSource) => qrs.has(qr),
  };
}
