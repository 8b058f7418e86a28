import { ascending, divideRoundingDown, divideRoundingHalfUp, formatRate } from '../base/money.ts';
import type { RateRules } from './rules.ts';
import type { Quote } from './source.ts';

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

export interface Rules extends RateRules {
  nowMs: number;
  maxAgeSec: number;
  /** Of the newest stored rate, however old. */
  lastMidE4: bigint | undefined;
}

export interface NewRate {
  midE4: bigint;
  rateE4: bigint;
  spreadBps: number;
  asOfMs: number;
  parts: Part[];
}

export interface Combination {
  /** Undefined: no usable rate, and an alarm has the reason. */
  rate: NewRate | undefined;
  alarms: Alarm[];
}

/** With fewer quotes the median does not show which one is wrong. */
const minForOutliers = 3;
const minToConfirmJump = 2;

type Quoted = Extract<Answer, { quote: Quote }>;

/** One rate from all quotes: the median of those that are fresh and plausible, minus the spread. */
export function combine(answers: Answer[], rules: Rules): Combination {
  const fresh = answers.filter(isQuoted).filter(({ quote }) => isFresh(quote, rules));
  const used = withoutOutliers(fresh, rules);
  const parts = answers.map(answer => partOf(answer, fresh, used));
  const alarms = disagreements(fresh, used, rules);
  if (used.length === 0) return { rate: undefined, alarms: [...alarms, unavailable(parts)] };

  const midE4 = medianOf(used);
  const rateE4 = partnerRateE4(midE4, rules.spreadBps);
  if (rateE4 === 0n) return { rate: undefined, alarms: [...alarms, unavailable(parts)] };
  const jump = unconfirmedJump(midE4, used, rules);
  if (jump) return { rate: undefined, alarms: [...alarms, jump] };
  const asOfMs = Math.min(...used.map(({ quote }) => quote.asOfMs));
  return { rate: { midE4, rateE4, spreadBps: rules.spreadBps, asOfMs, parts }, alarms };
}

/** A partner spends USDT, so it gets fewer rubles per USDT than the market pays; rounding is in favour of the service. */
export const partnerRateE4 = (midE4: bigint, spreadBps: number) =>
  divideRoundingDown(midE4 * BigInt(10_000 - spreadBps), 10_000n);

/** Of an even count: the mean of the two in the middle. */
export function median(values: bigint[]): bigint {
  const sorted = ascending(values);
  const upper = sorted[Math.trunc(sorted.length / 2)]!;
  const lower = sorted[Math.trunc((sorted.length - 1) / 2)]!;
  return divideRoundingHalfUp(lower + upper, 2n);
}

const isQuoted = (answer: Answer): answer is Quoted => 'quote' in answer;

const isFresh = ({ asOfMs }: Quote, { nowMs, maxAgeSec }: Rules) => nowMs - asOfMs <= maxAgeSec * 1_000;

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

/** A jump may be real or an error of one source: it counts if two sources agree or the operator set it. */
function unconfirmedJump(midE4: bigint, used: Quoted[], rules: Rules): Alarm | undefined {
  const { lastMidE4, jumpBps } = rules;
  if (lastMidE4 === undefined || !differsByMore(midE4, lastMidE4, jumpBps)) return undefined;
  const agreeing = used.filter(quoted => !isOutlier(quoted, midE4, rules));
  if (agreeing.length >= minToConfirmJump || agreeing.some(({ isSetByOperator }) => isSetByOperator)) {
    return undefined;
  }
  const [was, is] = [formatRate(lastMidE4), formatRate(midE4)];
  return {
    kind: 'rate_jump',
    detail:
      `rejected: from ${was} to ${is}, quoted by ${used.map(({ source }) => source).join(', ')} alone; ` +
      `if it is right, add a source to RATE_SOURCES or run once with fixed:${is}`,
  };
}

const unavailable = (parts: Part[]): Alarm => ({
  kind: 'rate_unavailable',
  detail: parts.map(describePart).join('; ') || 'there are no sources',
});

const describePart = (part: Part) =>
  part.outcome === 'failed' ? `${part.source}: ${part.reason}` : `${part.source}: ${part.outcome}`;
