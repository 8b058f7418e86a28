/** A QR code that was resolved; nothing is paid. */
export interface ResolvedQr {
  qrc_id: string;
  recipient: string;
  purpose: string;
  amount_rub: string;
  /** Null: the rate is out of date, and payments are closed. */
  amount_usdt: string | null;
  /** Why a payment of it would be refused; null: it would not. */
  why_not: 'recipient_blocked' | 'below_minimum' | 'above_maximum' | null;
}

/** What the QR code in a photo says. */
export interface QrPhoto {
  qr_url: string;
}
