import { randomBytes } from 'node:crypto';

/**
 * A QR code as a till shows it, made up here because this shop only tests. In production it comes from the recipient:
 * from their page, screen or invoice.
 */
export function newQrLink(amountRub: string): string {
  const id = `AD10${randomBytes(14).toString('hex').toUpperCase()}`;
  return `https://qr.nspk.ru/${id}?type=02&sum=${amountRub.replace('.', '')}&cur=RUB`;
}
