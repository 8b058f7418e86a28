import { decodeBase58Check } from './base58.ts';
import { formatMicroUsdt, parseMicroUsdt } from './money.ts';
import { refuseSetting } from './operator-error.ts';
import { wholeNumber } from './whole-number.ts';

interface KnownChain {
  title: string;
  /** As exchanges name it: people choose by the standard of the token. */
  network: string;
  /** How its addresses are written: `0x…` or `T…`. */
  form: 'hex' | 'base58';
  chainId: number;
  contract: string;
  decimals: number;
  usualMinutes: number;
  /**
   * Final blocks that are read again with those after them, of about two minutes. Several machines may answer behind one address, and
   * one that is behind leaves out the transfers of the last blocks, without an error. On Ethereum all have what is final: it is a
   * quarter of an hour old.
   */
  readAgain: number;
  /** Where a block explorer shows a transaction or an address; its hash or text follows. */
  transactionPage: string;
  addressPage: string;
}

/** What is known of a chain: where its USDT is, how its addresses are written, and how long a deposit takes. */
const known = {
  tron: {
    title: 'TRON',
    network: 'TRON (TRC-20)',
    form: 'base58',
    chainId: 728_126_428,
    contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    decimals: 6,
    usualMinutes: 2,
    readAgain: 40,
    transactionPage: 'https://tronscan.org/#/transaction/',
    addressPage: 'https://tronscan.org/#/address/',
  },
  ethereum: {
    title: 'Ethereum',
    network: 'Ethereum (ERC-20)',
    form: 'hex',
    chainId: 1,
    contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    decimals: 6,
    usualMinutes: 16,
    readAgain: 0,
    transactionPage: 'https://etherscan.io/tx/',
    addressPage: 'https://etherscan.io/address/',
  },
  bnb: {
    title: 'BNB Smart Chain',
    network: 'BNB Smart Chain (BEP-20)',
    form: 'hex',
    chainId: 56,
    contract: '0x55d398326f99059fF775485246999027B3197955',
    decimals: 18,
    usualMinutes: 1,
    readAgain: 200,
    transactionPage: 'https://bscscan.com/tx/',
    addressPage: 'https://bscscan.com/address/',
  },
} satisfies Record<string, KnownChain>;

export type ChainName = keyof typeof known;
export const chainNames = Object.keys(known) as ChainName[];

/** The name of a chain for people who send or look for USDT. */
export const networkOf = (chain: ChainName): string => known[chain].network;

/** The hash is what a node said. Explorers of TRON write it without `0x`. */
export function transactionUrl(chain: ChainName, transaction: string): string {
  const { form, transactionPage } = known[chain];
  const hash = form === 'base58' && transaction.startsWith('0x') ? transaction.slice(2) : transaction;
  return `${transactionPage}${encodeURIComponent(hash)}`;
}

export const addressUrl = (chain: ChainName, address: string): string =>
  `${known[chain].addressPage}${encodeURIComponent(address)}`;

/** Everything that is configured about one chain. Addresses of nodes may contain secrets and are never shown. */
export type DepositChainSettings = ReturnType<typeof readChain>;

/** The name of a setting of one chain, such as DEPOSIT_TRON_RPC. */
export const depositSetting = (chain: ChainName, what: string) => `DEPOSIT_${chain.toUpperCase()}_${what}`;

type Read = (name: string) => string | undefined;

/** Empty without DEPOSIT_CHAINS: then nothing else is read, and nothing of deposits runs. */
export function readDepositChains(read: Read): DepositChainSettings[] {
  const text = read('DEPOSIT_CHAINS');
  if (text === undefined) return [];
  const names = text.split(',').map(name => name.trim());
  const repeated = names.find((name, place) => names.indexOf(name) !== place);
  if (repeated !== undefined) refuseSetting('DEPOSIT_CHAINS', `has ${repeated} twice`);
  return names.map(name => {
    const chain = chainNames.find(candidate => candidate === name);
    return chain
      ? readChain(chain, read)
      : refuseSetting('DEPOSIT_CHAINS', `must be some of ${chainNames.join(', ')}, not "${name}"`);
  });
}

function readChain(name: ChainName, read: Read) {
  const chain: KnownChain = known[name];
  const at = (what: string) => [depositSetting(name, what), read(depositSetting(name, what))] as const;
  const number = (what: string, byDefault: number, min: number, max: number) =>
    wholeNumber(depositSetting(name, what), at(what)[1] ?? `${byDefault}`, min, max);
  return {
    name,
    ...chain,
    /** One or two nodes; two must agree. */
    rpcUrls: rpcUrls(...at('RPC')),
    xpub: xpub(...at('XPUB')),
    contract: at('CONTRACT')[1] ?? chain.contract,
    decimals: number('DECIMALS', chain.decimals, 6, 36),
    chainId: number('CHAIN_ID', chain.chainId, 1, 4_294_967_295),
    /** Undefined: the block that the node calls `finalized`. */
    confirmations: at('CONFIRMATIONS')[1] === undefined ? undefined : number('CONFIRMATIONS', 0, 0, 10_000),
    minMicroUsdt: amount(...at('MIN_USDT')),
  };
}

/** Their paths often contain an access key, so no message repeats an address. */
function rpcUrls(name: string, text: string | undefined): string[] {
  const urls = (text ?? '').split(',').map(url => url.trim());
  if (text === undefined) refuseSetting(name, 'must be set: the address of a node, or two with a comma');
  if (urls.length > 2) refuseSetting(name, 'must have one or two addresses');
  if (new Set(urls).size < urls.length) refuseSetting(name, 'must name two different nodes');
  for (const url of urls) refuseUnfit(name, url, 'http:// or https:// URLs');
  return urls;
}

function refuseUnfit(name: string, url: string, wanted: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) refuseSetting(name, `must be ${wanted}`);
  if (parsed.username !== '' || parsed.password !== '')
    refuseSetting(name, 'must not have a user name or password: put the access key into the path');
}

/** Who screens deposits before they are credited; undefined: nobody. Its path may contain an access key, so no message repeats it. */
export function readScreenUrl(read: Read): string | undefined {
  const text = read('DEPOSIT_SCREEN_URL');
  if (text === undefined) return undefined;
  refuseUnfit('DEPOSIT_SCREEN_URL', text, 'an http:// or https:// URL');
  return text;
}

const publicVersion = 0x0488b21e;

/** The message never repeats the value: it may be a private key. */
function xpub(name: string, text: string | undefined): string {
  if (text === undefined) return refuseSetting(name, 'must be set: an extended public key (xpub…)');
  if (/^[a-z]prv/i.test(text))
    refuseSetting(name, 'is a private key, which must never be on a server: use its public one (xpub…)');
  const payload = decodeBase58Check(text);
  const isPublic = payload?.length === 78 && payload.readUInt32BE(0) === publicVersion;
  return isPublic ? text : refuseSetting(name, 'must be an extended public key (xpub…) with its checksum');
}

const minByDefault = 1_000_000n;
/** More would be a typing mistake that keeps every deposit waiting. */
const maxMin = 10_000_000_000n;

function amount(name: string, text: string | undefined): bigint {
  if (text === undefined) return minByDefault;
  const value = parseMicroUsdt(text);
  return value !== undefined && value > 0n && value <= maxMin
    ? value
    : refuseSetting(name, `must be an amount from 0.000001 to ${formatMicroUsdt(maxMin)}, not "${text}"`);
}
