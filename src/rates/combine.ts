import { ascending, divideRoundingDown, divideRoundingHalfUp, formatRate } from '../base/money.ts';
import type { RateRules } from './rules.ts';

export interface Quote {
  midE4: bigint;
  asOfMs: number;
}

/** Where quotes for 1 USDT come from. */
export interface RateSource {
  name: string;
  /** A fixed rate of the operator, not of a market: counts without a second source that agrees. */
  isSetByOperator?: boolean;
  /** Rejects with a short reason when there is no quote that can be trusted. */
  fetch(signal: AbortSignal): Promise<Quote>;
}

/** The result of asking one source. */
export type Answer =
  | { source: string; isSetByOperator: boolean; quote: Quote }
  | { source: string; reason: string };

/** How a source took part in a rate; stored with it. */
export type Part =
  | { source: string; outcome: 'used' | 'stale' | 'outlier'; midE4: bigint; asOfMs: number }
  | { source: string; outcome: 'failed'; reason: string };

export interface Alarm {
  kind: string;
  detail: string;
}

/** Quotes outside are wrong, whatever the other sources say: `RATE_MIN` and `RATE_MAX`. */
export interface RateBounds {
  minE4: bigint;
  maxE4: bigint;
}

export interface Rules extends RateRules {
  nowMs: number;
  maxAgeSec: number;
  bounds: RateBounds;
  /** The mid of the newest stored rate, however old. */
  lastMidE4: bigint | undefined;
  /** The mids of the last hour, from the newest confirmed rate on: many small steps count as one jump. */
  recentMidsE4: bigint[];
}

export interface NewRate {
  midE4: bigint;
  rateE4: bigint;
  spreadBps: number;
  asOfMs: number;
  parts: Part[];
}

/** With fewer quotes the median does not show which one is wrong. */
const minForOutliers = 3;
const minToConfirm = 2;

type Quoted = Extract<Answer, { quote: Quote }>;

/**
 * One rate from all quotes: the median of those that are fresh and plausible, minus the spread. Without a usable rate an alarm
 * has the reason.
 */
export function combine(answers: Answer[], rules: Rules): { rate: NewRate | undefined; alarms: Alarm[] } {
  const allFresh = answers.filter(isQuoted).filter(({ quote }) => isFresh(quote, rules));
  const fresh = allFresh.filter(quoted => isWithin(quoted, rules));
  const used = withoutOutliers(fresh, rules);
  const parts = answers.map(answer => partOf(answer, allFresh, used));
  const alarms = [...outOfBounds(allFresh, rules), ...disagreements(fresh, used, rules)];
  if (used.length === 0) return { rate: undefined, alarms: [...alarms, unavailable(parts)] };

  const midE4 = medianOf(used);
  const rateE4 = partnerRateE4(midE4, rules.spreadBps);
  if (rateE4 === 0n) return { rate: undefined, alarms: [...alarms, unavailable(parts)] };
  const refused = isConfirmed(midE4, used, rules)
    ? undefined
    : (unconfirmedFirst(answers, used, rules) ?? unconfirmedJump(midE4, used, rules));
  if (refused) return { rate: undefined, alarms: [...alarms, refused] };
  const asOfMs = Math.min(...used.map(({ quote }) => quote.asOfMs));
  return { rate: { midE4, rateE4, spreadBps: rules.spreadBps, asOfMs, parts }, alarms };
}

/** A partner spends USDT, so it gets fewer rubles per USDT than the market pays; rounding is in favour of the service. */
export const partnerRateE4 = (midE4: bigint, spreadBps: number) =>
  divideRoundingDown(midE4 * BigInt(10_000 - spreadBps), 10_000n);

/** For an even count: the mean of the two in the middle. */
export function median(values: bigint[]): bigint {
  const sorted = ascending(values);
  const upper = sorted[Math.trunc(sorted.length / 2)]!;
  const lower = sorted[Math.trunc((sorted.length - 1) / 2)]!;
  return divideRoundingHalfUp(lower + upper, 2n);
}

const isQuoted = (answer: Answer): answer is Quoted => 'quote' in answer;

const isFresh = ({ asOfMs }: Quote, { nowMs, maxAgeSec }: Rules) => nowMs - asOfMs <= maxAgeSec * 1_000;

const isWithin = ({ quote: { midE4 } }: Quoted, { bounds: { minE4, maxE4 } }: Rules) =>
  midE4 >= minE4 && midE4 <= maxE4;

const medianOf = (quoted: Quoted[]) => median(quoted.map(({ quote }) => quote.midE4));

const differsByMore = (valueE4: bigint, fromE4: bigint, bps: number) =>
  (valueE4 > fromE4 ? valueE4 - fromE4 : fromE4 - valueE4) * 10_000n > fromE4 * BigInt(bps);

const isOutlier = ({ quote }: Quoted, medianE4: bigint, { bandBps }: RateRules) =>
  differsByMore(quote.midE4, medianE4, bandBps);

function withoutOutliers(fresh: Quoted[], rules: RateRules): Quoted[] {
  if (fresh.length < minForOutliers) return fresh;
  const medianE4 = medianOf(fresh);
  return fresh.filter(quoted => !isOutlier(quoted, medianE4, rules));
}

function partOf(answer: Answer, fresh: Quoted[], used: Quoted[]): Part {
  const { source } = answer;
  if (!isQuoted(answer)) return { source, outcome: 'failed', reason: answer.reason };
  const outcome = used.includes(answer) ? 'used' : fresh.includes(answer) ? 'outlier' : 'stale';
  return { source, outcome, ...answer.quote };
}

const outOfBounds = (fresh: Quoted[], rules: Rules): Alarm[] =>
  fresh
    .filter(quoted => !isWithin(quoted, rules))
    .map(quoted => ({
      kind: 'rate_outlier',
      detail:
        `${describeQuote(quoted)}, outside of RATE_MIN and RATE_MAX ` +
        `(${formatRate(rules.bounds.minE4)} to ${formatRate(rules.bounds.maxE4)})`,
    }));

function disagreements(fresh: Quoted[], used: Quoted[], rules: RateRules): Alarm[] {
  if (fresh.length === 0) return [];
  const medianE4 = medianOf(fresh);
  if (fresh.length < minForOutliers) {
    // Either may be wrong, so both stay, and the alarm asks for a look.
    return fresh.some(quoted => isOutlier(quoted, medianE4, rules))
      ? [{ kind: 'rate_sources_disagree', detail: fresh.map(describeQuote).join('; ') }]
      : [];
  }
  return fresh
    .filter(quoted => !used.includes(quoted))
    .map(quoted => ({
      kind: 'rate_outlier',
      detail: `${describeQuote(quoted)}, more than ${rules.bandBps / 100}% from the median ${formatRate(medianE4)}`,
    }));
}

const describeQuote = ({ source, quote }: Quoted) => `${source} quotes ${formatRate(quote.midE4)}`;

/** Two sources agree, or the operator set it. */
function isConfirmed(midE4: bigint, used: Quoted[], rules: Rules): boolean {
  const agreeing = used.filter(quoted => !isOutlier(quoted, midE4, rules));
  return agreeing.length >= minToConfirm || agreeing.some(({ isSetByOperator }) => isSetByOperator);
}

/** Every later rate is compared with the first, so that one must be right. A single source can only be believed. */
function unconfirmedFirst(answers: Answer[], used: Quoted[], { lastMidE4 }: Rules): Alarm | undefined {
  if (lastMidE4 !== undefined || answers.length === 1) return undefined;
  return {
    kind: 'rate_unavailable',
    detail:
      `the first rate needs two sources that agree: ${used.map(describeQuote).join('; ')}; ` +
      'correct RATE_SOURCES, or run once with fixed: and the right rate',
  };
}

/** A jump may be real or an error of one source. Small steps within an hour are a jump too. */
function unconfirmedJump(midE4: bigint, used: Quoted[], rules: Rules): Alarm | undefined {
  const { lastMidE4, recentMidsE4, jumpBps } = rules;
  const earlierE4 = lastMidE4 === undefined ? recentMidsE4 : [lastMidE4, ...recentMidsE4];
  const fromE4 = earlierE4.find(earlier => differsByMore(midE4, earlier, jumpBps));
  if (fromE4 === undefined) return undefined;
  const [was, is] = [formatRate(fromE4), formatRate(midE4)];
  return {
    kind: 'rate_jump',
    detail:
      `rejected: from ${was} to ${is}, quoted by ${used.map(({ source }) => source).join(', ')} alone; ` +
      `if it is right, add a source to RATE_SOURCES or run once with fixed:${is}`,
  };
}

/**
 * The mids of these rates, newest first, up to the newest that two sources or the operator confirmed: what was before it no
 * longer counts. Otherwise a confirmed jump would be refused as soon as one of the two sources is silent.
 */
export function midsSinceConfirmed(rates: { midE4: bigint; parts: Part[] }[], { bandBps }: RateRules) {
  const isSure = ({ midE4, parts }: { midE4: bigint; parts: Part[] }) => {
    const agreeing = parts.filter(
      part => part.outcome === 'used' && !differsByMore(part.midE4, midE4, bandBps),
    );
    return agreeing.length >= minToConfirm || agreeing.some(({ source }) => source.startsWith('fixed:'));
  };
  const sure = rates.findIndex(isSure);
  return rates.slice(0, sure < 0 ? rates.length : sure + 1).map(({ midE4 }) => midE4);
}

const unavailable = (parts: Part[]): Alarm => ({
  kind: 'rate_unavailable',
  detail: parts.map(describePart).join('; ') || 'there are no sources',
});

const describePart = (part: Part) =>
  part.outcome === 'failed' ? `${part.source}: ${part.reason}` : `${part.source}: ${part.outcome}`;
