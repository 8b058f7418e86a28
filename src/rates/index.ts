export { type Alarm, type Part, partnerRateE4 } from './combine.ts';
export { createRateSources } from './create-sources.ts';
export { createRateMetrics, rateGauges } from './gauges.ts';
export { createRateMemo, type RateMemo } from './rate-memo.ts';
export { startRateRefresher } from './refresher.ts';
export {
  type CurrentRules,
  changeRateRules,
  listRateRules,
  readRateRules,
  rulesChanged,
  rulesObject,
} from './rules.ts';
export type { RateSource } from './source.ts';
export {
  type CurrentRate,
  chartRates,
  explainRate,
  isStale,
  listRates,
  readCurrentRate,
} from './store.ts';
export { computeWhatIf } from './what-if.ts';
