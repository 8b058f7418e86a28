import { dayMs } from '../../base/clock.ts';
import { parseId } from '../../base/ids.ts';
import { parseDay } from '../../base/instants.ts';
import { parseKopecks } from '../../base/money.ts';
import { parseQrLink } from '../../base/qr.ts';
import type { PaymentFilter } from './search-statement.ts';

/**
 * Parses what an operator typed into the search field. Ids, QR links, states, days and sums are recognized by their form,
 * and all must match. The rest may be a name of several kinds; each kind gives a filter.
 */
export function readSearchWords(text: string, qrHosts: readonly string[]): PaymentFilter[] {
  const known: PaymentFilter = {};
  const others: string[] = [];
  const words = text.trim().split(/\s+/).filter(Boolean);
  for (const word of words) {
    const meaning = meaningOf(word, qrHosts);
    if (meaning) Object.assign(known, meaning);
    else others.push(word);
  }
  if (others.length === 0) return [known];
  const filters = readName(others.join(' ')).map(name => ({ ...known, ...name }));
  // "Test shop" may mean a shop's payments in test mode, or a shop of that name.
  return others.length === words.length ? filters : [...filters, ...readName(words.join(' '))];
}

function meaningOf(word: string, qrHosts: readonly string[]): PaymentFilter | undefined {
  const paymentId = parseId('pay', word);
  if (paymentId) return { paymentId };
  const partnerId = parseId('prt', word);
  if (partnerId) return { partnerId };
  const link = parseQrLink(word, qrHosts);
  if (link.kind === 'sbp') return { qrcId: link.qrcId };
  switch (word.toLowerCase()) {
    case 'live':
    case 'test':
      return { mode: word.toLowerCase() as 'live' | 'test' };
    case 'processing':
    case 'succeeded':
    case 'failed':
      return { status: word.toLowerCase() as 'processing' | 'succeeded' | 'failed' };
    case 'manual_review':
      return { status: 'processing', statusDetail: 'manual_review' };
  }
  const day = parseDay(word);
  if (day) return { createdFrom: day, createdBefore: new Date(day.getTime() + dayMs) };
  // Without kopecks or a currency sign it may as well be the number of an order.
  const sum = /^(\d+[.,]\d{1,2}|\d+)(₽|rub|руб\.?)?$/i.exec(word);
  const isSum = sum && (sum[2] !== undefined || /[.,]/.test(sum[1]!));
  const amountKopecks = isSum ? parseKopecks(sum[1]!.replace(',', '.')) : undefined;
  return amountKopecks === undefined ? undefined : { amountKopecks };
}

function readName(name: string): PaymentFilter[] {
  const isOneWord = !name.includes(' ');
  const amountKopecks = /^\d+$/.test(name) ? parseKopecks(name) : undefined;
  return [
    { externalId: name },
    { recipient: name },
    { partnerName: name },
    ...(isOneWord ? [{ idempotencyKey: name }] : []),
    ...(/^\w{16,64}$/.test(name) ? [{ qrcId: name }] : []),
    ...(amountKopecks === undefined ? [] : [{ amountKopecks }]),
  ];
}
