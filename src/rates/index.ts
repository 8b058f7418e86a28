export type { Alarm, Part } from './combine.ts';
export { createRateSources } from './create-sources.ts';
export { startRateRefresher } from './refresher.ts';
export {
  changeRateRules,
  listRateRules,
  readRateRules,
  rulesChanged,
  rulesObject,
  type StandingRules,
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
export { askWhatIf } from './what-if.ts';
