export { claimRefresh } from './claim.ts';
export type { Alarm, Part } from './combine.ts';
export { createRateSources } from './create-sources.ts';
export { refreshRate } from './refresh.ts';
export { startRateRefresher } from './refresher.ts';
export type { RateSource } from './source.ts';
export { type CurrentRate, explainRate, isStale, listRates, readCurrentRate } from './store.ts';
