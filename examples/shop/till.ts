import { randomBytes } from 'node:crypto';

/**
 * The code that a till shows, made up here since this shop only tests. For real you get it from whoever is to be paid:
 * it is on their page, their screen or their bill.
 */
export function newQrLink(amountRub: string): string {
  const id = `AD10${randomBytes(14).toString('hex').toUpperCase()}`;
  return `https://qr.nspk.ru/${id}?type=02&sum=${amountRub.replace('.', '')}&cur=RUB`;
}
