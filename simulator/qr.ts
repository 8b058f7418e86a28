import { createHash, randomBytes } from 'node:crypto';

export const scenarios = [
  'C2B',
  'C2B_CASH_REGISTER',
  'C2B_OPEN_SUM',
  'C2B_SUBSCRIPTION',
  'C2B_SUBSCRIPTION_WITH_PAYMENT',
] as const;

export interface Qr {
  qrc_id: string;
  scenario: (typeof scenarios)[number];
  recipient: string;
  recipient_id: string;
  amount_kopecks: number | null;
  purpose: string;
  expires_at: string | null;
}

/** A QR made here. The link is what is printed on paper: it stays the same when other fields change. */
export interface SimulatedQr extends Qr {
  link: string;
  reusable: boolean;
  created_at: string;
}

const shops = ['Кофейня', 'Книжный магазин', 'Аптека', 'Пекарня', 'Цветы', 'Продукты', 'Автомойка'];
const linkPattern = /^https:\/\/qr\.nspk\.ru\/(\w{16,64})(?:\?([\w=&.-]*))?$/;
const idAlphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUV';

/** CRC-16/CCITT-FALSE. */
export function crc16(link: string): string {
  let crc = 0xffff;
  for (const byte of Buffer.from(link)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : crc << 1;
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}

export interface Link {
  qrcId: string;
  sumKopecks: number | null;
}

/** Undefined for anything that is not an SBP link, or has a wrong checksum. */
export function readLink(link: string): Link | undefined {
  const match = linkPattern.exec(link);
  if (!match) return undefined;
  const query = new URLSearchParams(match[2]);
  const crc = query.get('crc');
  if (crc !== null && crc.toUpperCase() !== crc16(link.slice(0, link.search(/[?&]crc=/)))) return undefined;
  const sum = query.get('sum') ?? '';
  return { qrcId: match[1]!, sumKopecks: /^[1-9]\d{0,14}$/.test(sum) ? Number(sum) : null };
}

/** Prefix AD or BD; the others are reusable. */
export const isOneTime = (qrcId: string) => /^[AB]D/.test(qrcId);

/** A link made elsewhere can be paid too if it carries an amount, always to the same shop. */
export function qrOfForeignLink({ qrcId, sumKopecks }: Link): Qr | undefined {
  if (sumKopecks === null) return undefined;
  const facts = { purpose: 'Оплата заказа', expires_at: null, ...shopFor(qrcId) };
  return { qrc_id: qrcId, scenario: 'C2B', amount_kopecks: sumKopecks, ...facts };
}

export function shopFor(seed: string): { recipient: string; recipient_id: string } {
  const index = createHash('sha256').update(seed).digest()[0]! % shops.length;
  return { recipient: shops[index]!, recipient_id: `MB${String(123_456 + index).padStart(10, '0')}` };
}

export function newLink(reusable: boolean, sumKopecks: number | null): { qrc_id: string; link: string } {
  const digits = Array.from(randomBytes(29), byte => idAlphabet[byte % 32]);
  const qrcId = `${reusable ? 'AS' : 'AD'}1${digits.join('')}`;
  const sum = sumKopecks === null ? '' : `&sum=${sumKopecks}&cur=RUB`;
  const link = `https://qr.nspk.ru/${qrcId}?type=${reusable ? '01' : '02'}&bank=100000000111${sum}`;
  return { qrc_id: qrcId, link: `${link}&crc=${crc16(link)}` };
}

/** The answer to resolving. The fingerprint changes if and only if another field does. */
export function resolved(qr: Qr): Qr & { fingerprint: string } {
  const { qrc_id, scenario, recipient, recipient_id, amount_kopecks, purpose, expires_at } = qr;
  const facts = { qrc_id, scenario, recipient, recipient_id, amount_kopecks, purpose, expires_at };
  const digest = createHash('sha256').update(JSON.stringify(facts)).digest('hex');
  return { ...facts, fingerprint: digest.slice(0, 32) };
}

export const isExpired = (qr: Qr, nowMs: number) =>
  qr.expires_at !== null && Date.parse(qr.expires_at) <= nowMs;
