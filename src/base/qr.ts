/**
 * Links of SBP QR codes, in all the forms in which people paste them. Only the link itself is checked here: what it asks
 * for, and whether it can still be paid, is known after the gateway resolved it.
 */
export type QrLink =
  /** `url` is the one form in which the link is stored, compared and sent on. */
  | { kind: 'sbp'; qrcId: string; sumKopecks: bigint | undefined; url: string }
  | { kind: 'subscription' }
  | { kind: 'invalid' };

const invalid: QrLink = { kind: 'invalid' };
const subscriptionHost = 'sub.nspk.ru';
const maxLinkLength = 2048;

/** The parts of a link of this form, whatever its host. The query is with its question mark; empty if there is none. */
function splitLink(text: string) {
  const pasted = text.trim().replaceAll('&amp;', '&');
  const form = /^(?:https|bank\d{12}):\/\/([^/?#@:]+)\/(\w{16,64})(\?[^#]*)?(?:#.*)?$/i.exec(pasted);
  if (!form || pasted.length > maxLinkLength) return undefined;
  const [, host, qrcId, query = ''] = form as unknown as [string, string, string, string | undefined];
  return { host: host.toLowerCase(), qrcId, query };
}

export function parseQrLink(text: string, hosts: readonly string[]): QrLink {
  const form = splitLink(text);
  if (!form) return invalid;
  const { host, qrcId, query } = form;
  const type = new URLSearchParams(query).get('type');
  if (host === subscriptionHost || (hosts.includes(host) && type === '03')) return { kind: 'subscription' };
  if (!hosts.includes(host) || !isChecksumRight(host, hosts[0]!, qrcId, query)) return invalid;
  const parameters = readParameters(query);
  return parameters
    ? { kind: 'sbp', qrcId, sumKopecks: parameters.sumKopecks, url: `https://${hosts[0]}/${qrcId}${query}` }
    : invalid;
}

/**
 * What a link says apart from its host: the code and its parameters. It does not depend on the settings, so it is the same
 * for as long as a payment is kept. Undefined for what cannot be the link of a payment.
 */
export function splitHost(text: string): { host: string; code: string } | undefined {
  const form = splitLink(text);
  if (!form || form.host === subscriptionHost) return undefined;
  return { host: form.host, code: `${form.qrcId}${form.query}` };
}

function readParameters(query: string): { sumKopecks: bigint | undefined } | undefined {
  const parameters = new URLSearchParams(query);
  const [type, sum, currency] = ['type', 'sum', 'cur'].map(name => parameters.get(name));
  if (type && type !== '01' && type !== '02') return undefined;
  if (currency && currency.toUpperCase() !== 'RUB') return undefined;
  if (sum === null || sum === undefined) return { sumKopecks: undefined };
  return /^[1-9]\d{0,11}$/.test(sum) ? { sumKopecks: BigInt(sum) } : undefined;
}

/**
 * The checksum covers everything before it, scheme and host included. A link copied from the web form can carry the
 * checksum of the original link, so the checksum of either host is accepted.
 */
function isChecksumRight(host: string, mainHost: string, qrcId: string, query: string): boolean {
  const found = /[?&]crc=([^&]*)/.exec(query);
  if (!found) return true;
  const covered = query.slice(0, found.index);
  return [host, mainHost].some(
    name => crc16(`https://${name}/${qrcId}${covered}`) === found[1]!.toUpperCase(),
  );
}

/** CRC-16/CCITT-FALSE, as four hexadecimal digits. */
export function crc16(text: string): string {
  let crc = 0xffff;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++)
      crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}
