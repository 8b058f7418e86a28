/** One row of the table. */
export interface Figure {
  what: string;
  measured: string;
  against?: string;
  bar?: Bar;
  /** The same numbers for `--json`. */
  values: Record<string, unknown>;
}

/** The target of a figure. */
export interface Bar {
  /** Short, for the chart. */
  name: string;
  value: number;
  limit: number;
  rule: keyof typeof rules;
}

const rules = {
  '≥': (value: number, limit: number) => value >= limit,
  '≤': (value: number, limit: number) => value <= limit,
  '<': (value: number, limit: number) => value < limit,
};

export const isReached = ({ value, limit, rule }: Bar) => rules[rule](value, limit);

/** The figure relative to its bar; more than 1 is better than the bar, for all three rules. */
export const margin = ({ value, limit, rule }: Bar) =>
  rule === '≥' ? value / limit : limit / Math.max(0, value);

const decimals = (value: number) => (value < 1 ? 2 : value < 10 ? 1 : 0);

export const describeBar = (bar: Bar) =>
  `${bar.rule} ${bar.limit.toFixed(decimals(bar.limit))} ${isReached(bar) ? '✓' : '✗'}`;

/** 12 345, with a non-breaking space. */
export const whole = (value: number) => Math.round(value).toLocaleString('en').replaceAll(',', '\u00a0');

export const rate = (perSecond: number) => `${whole(perSecond)}/s`;

export const ms = (value: number) => `${value < 10 ? value.toFixed(1) : whole(value)} ms`;

export const latency = ({ p50Ms, p99Ms }: { p50Ms: number; p99Ms: number }) =>
  `50th ${ms(p50Ms)}, 99th ${ms(p99Ms)}`;

export const megabytes = (bytes: number) => `${whole(bytes / 1024 ** 2)} MB`;
