import { formatRate, parseRate } from './money.ts';
import { refuseSetting } from './operator-error.ts';

export const exchangeNames = ['rapira', 'abcex', 'coingecko', 'cryptopay'] as const;
export type ExchangeName = (typeof exchangeNames)[number];

/** One source of RATE_SOURCES. The name stands in records and on screens, so it holds no secret. */
export type RateSourceSetting =
  | { kind: 'exchange'; name: ExchangeName }
  | { kind: 'fixed'; name: string; rateE4: bigint }
  | { kind: 'feed'; name: string; url: string };

/** Parses RATE_SOURCES, such as `rapira, coingecko, fixed:92.50, https://rates.example/usdt`. */
export function parseRateSources(text: string): RateSourceSetting[] {
  const sources = text.split(',').map(item => parseRateSource(item.trim()));
  const names = sources.map(({ name }) => name);
  const repeated = names.find((name, place) => names.indexOf(name) !== place);
  // A source listed twice would agree with itself, and agreement is the guard against one wrong source.
  return repeated === undefined ? sources : refuse(`has ${repeated} twice`);
}

function parseRateSource(item: string): RateSourceSetting {
  const exchange = exchangeNames.find(name => name === item);
  if (exchange) return { kind: 'exchange', name: exchange };
  if (item.startsWith('fixed:')) return parseFixed(item);
  if (/^https?:\/\//.test(item)) return parseFeed(item);
  return item === ''
    ? refuse('has an empty entry: remove the extra comma')
    : refuse(
        `may have ${exchangeNames.join(', ')}, fixed:92.50 and http:// or https:// URLs, not "${item.slice(0, 40)}"`,
      );
}

function parseFixed(item: string): RateSourceSetting {
  const rateE4 = parseRate(item.slice('fixed:'.length));
  return rateE4
    ? { kind: 'fixed', name: `fixed:${formatRate(rateE4)}`, rateE4 }
    : refuse(
        `has "${item.slice(0, 40)}": after fixed: comes a positive rate such as 92.50, at most 4 decimal places`,
      );
}

/** The query of an address may hold an API key, so neither the name nor a message repeats it. */
function parseFeed(item: string): RateSourceSetting {
  const url = URL.canParse(item) ? new URL(item) : undefined;
  if (!url) return refuse('has an invalid URL');
  if (url.username || url.password) return refuse(`has a URL with a user name (${url.host}): remove it`);
  return { kind: 'feed', name: `${url.origin}${url.pathname}`, url: url.href };
}

/** Checks RATE_MIN and RATE_MAX, and that no fixed rate is outside of them. */
export function readRateBounds(
  min: string | undefined,
  max: string | undefined,
  sources: RateSourceSetting[] | undefined,
) {
  const [minE4, maxE4] = [rateOf('RATE_MIN', min ?? '40'), rateOf('RATE_MAX', max ?? '400')];
  if (minE4 > maxE4) refuseSetting('RATE_MIN', 'must not be above RATE_MAX');
  const outside = sources?.find(
    source => source.kind === 'fixed' && (source.rateE4 < minE4 || source.rateE4 > maxE4),
  );
  if (outside) refuse(`has ${outside.name}, outside of RATE_MIN and RATE_MAX`);
  return { minE4, maxE4 };
}

const rateOf = (name: string, text: string) =>
  parseRate(text) || refuseSetting(name, `must be a positive rate such as 92.50, not "${text.slice(0, 40)}"`);

const refuse = (problem: string) => refuseSetting('RATE_SOURCES', problem);
