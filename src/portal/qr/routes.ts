import Type from 'typebox';
import { errors } from '../../base/errors.ts';
import { formatKopecks, formatMicroUsdt, formatRate, kopecksToMicroUsdt } from '../../base/money.ts';
import { isRecipientBlocked } from '../../controls/index.ts';
import { resolveQr } from '../../payments/index.ts';
import { isStale, readCurrentRate } from '../../rates/index.ts';
import { Mode, refuse } from '../../web/index.ts';
import { post } from '../route.ts';

/** As long as a link of the API may be. */
export const QrLink = Type.String({ minLength: 1, maxLength: 2_048 });

/** Who is paid with a QR code, how much, and what it costs now. Nothing is paid. */
export const qrRoute = post(
  '/qr',
  'follow',
  { body: { mode: Mode, qr_url: QrLink } },
  async (request, deps) => {
    const { partner } = request.member;
    const { mode, qr_url } = request.body;
    const refuseWith = (code: keyof typeof errors) => refuse(errors[code].status, code, errors[code].message);
    if (partner.suspended) return refuseWith('partner_suspended');
    if (mode === 'live' && !partner.liveApproved)
      return refuse(409, 'not_approved', 'Live mode is not approved yet.');
    const resolution = await resolveQr(deps, { ...partner, mode }, qr_url.trim());
    if (resolution.outcome === 'refused') return refuseWith(resolution.code);
    const { qr } = resolution;
    const db = deps.readsOf(partner.partnerId);
    const rate = await readCurrentRate(db);
    const isFresh = rate && !isStale(rate, deps.clock, deps.rateMaxAgeSec);
    const isBlocked = await isRecipientBlocked(db, [qr.recipient, qr.recipientId]);
    return {
      qrc_id: qr.qrcId,
      recipient: qr.recipient,
      purpose: qr.purpose,
      amount_rub: formatKopecks(qr.amountKopecks),
      // Null: the rate is out of date, and payments are paused.
      amount_usdt: isFresh ? formatMicroUsdt(kopecksToMicroUsdt(qr.amountKopecks, rate.rateE4)) : null,
      rate: isFresh ? formatRate(rate.rateE4) : null,
      // Why a payment of it would be refused; null: it would not.
      why_not: isBlocked ? ('recipient_blocked' as const) : whyOutside(qr.amountKopecks, partner.limits),
    };
  },
);

function whyOutside(
  kopecks: bigint,
  { minKopecks, maxKopecks }: { minKopecks: bigint; maxKopecks: bigint },
): 'below_minimum' | 'amount_limit_exceeded' | null {
  if (kopecks < minKopecks) return 'below_minimum';
  return kopecks > maxKopecks ? 'amount_limit_exceeded' : null;
}
