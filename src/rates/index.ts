export { type Alarm, type Part, partnerRateE4, type RateSource } from './combine.ts';
export { createRateSources } from './create-sources.ts';
export { createRateMetrics, rateGauges } from './gauges.ts';
export { startRateRefresher } from './refresh.ts';
export {
  type CurrentRules,
  changeRateRules,
  listRateRules,
  readRateRules,
  rulesChanged,
  rulesObject,
} from './rules.ts';
export {
  type CurrentRate,
  chartRates,
  createRateMemo,
  explainRate,
  isStale,
  listRates,
  type RateMemo,
  readCurrentRate,
} from './store.ts';
export { computeWhatIf } from './what-if.ts';
