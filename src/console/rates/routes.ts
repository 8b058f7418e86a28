import Type from 'typebox';
import { titleOfAlarm } from '../../alarms/index.ts';
import { isLabel } from '../../base/label.ts';
import { formatMicroUsdt, formatRate, parseKopecks } from '../../base/money.ts';
import {
  changeRateRules,
  chartRates,
  computeWhatIf,
  listRateRules,
  readRateRules,
} from '../../rates/index.ts';
import { Rubles, refuse, Text } from '../../web/index.ts';
import { auditContextOf, get, post } from '../route.ts';
import { readRateNow, rulesRow, sourceRow } from './rows.ts';

const changesShown = 50;
const hourMs = 3_600_000;

/** Stored in basis points, so at most two decimal places count. */
const Percent = Type.Number({ minimum: 0.01, maximum: 50 });
const Rules = {
  spread_bps: Type.Integer({ minimum: 0, maximum: 5_000 }),
  band_percent: Percent,
  jump_percent: Percent,
};

const readRules = (sent: { spread_bps: number; band_percent: number; jump_percent: number }) => ({
  spreadBps: sent.spread_bps,
  bandBps: Math.round(sent.band_percent * 100),
  jumpBps: Math.round(sent.jump_percent * 100),
});

export const showRates = get(
  '/rates',
  'see',
  { query: { hours: Type.Integer({ minimum: 1, maximum: 720, default: 24 }) } },
  async (request, { db, clock, rateMaxAgeSec, rateSpreadBps }) => {
    const until = new Date(clock.nowMs());
    const from = new Date(until.getTime() - request.query.hours * hourMs);
    const [now, rules, history, changes] = await Promise.all([
      readRateNow(db, clock, rateMaxAgeSec),
      readRateRules(db, rateSpreadBps),
      chartRates(db, from, until),
      listRateRules(db, changesShown),
    ]);
    return {
      now,
      rules: rulesRow(rules),
      history: history.map(({ at, rateE4, midE4 }) => ({
        at: at.toISOString(),
        rate: formatRate(rateE4),
        mid: formatRate(midE4),
      })),
      changes: changes.map(rulesRow),
    };
  },
);

export const tryRules = post(
  '/rates/what-if',
  'see',
  { body: { ...Rules, amount_rub: Rubles } },
  async (request, deps) => {
    const { db, rateMaxAgeSec, rateBounds } = deps;
    const operatorSources = deps.rateSources?.filter(({ kind }) => kind === 'fixed').map(({ name }) => name);
    const found = await computeWhatIf(db, readRules(request.body), {
      amountKopecks: parseKopecks(request.body.amount_rub)!,
      maxAgeSec: rateMaxAgeSec,
      bounds: rateBounds,
      operatorSources: operatorSources ?? [],
    });
    const { rate, now } = found ?? {};
    return {
      rate: rate ? formatRate(rate.rateE4) : null,
      mid: rate ? formatRate(rate.midE4) : null,
      amount_usdt: rate ? formatMicroUsdt(rate.microUsdt) : null,
      rate_now: now ? formatRate(now.rateE4) : null,
      amount_usdt_now: now ? formatMicroUsdt(now.microUsdt) : null,
      sources: found?.parts.map(sourceRow) ?? [],
      alarms: found?.alarms.map(({ kind, detail }) => ({ title: titleOfAlarm(kind), detail })) ?? [],
    };
  },
);

const changeRules = post(
  '/rates/rules',
  'rates.change',
  { body: { ...Rules, reason: Text, expected_version: Type.Integer({ minimum: 0 }) } },
  async (request, deps) => {
    const { rateSpreadBps } = deps;
    const { expected_version, reason: sentReason, ...sent } = request.body;
    const reason = sentReason.trim();
    if (!isLabel(reason))
      return refuse(422, 'invalid_request', 'A reason is one line of up to 128 characters.');
    const verdict = await changeRateRules(auditContextOf(deps, request), rateSpreadBps, {
      rules: readRules(sent),
      reason,
      expectedVersion: expected_version,
    });
    if (verdict.outcome !== 'stale') return rulesRow(verdict.rules);
    const message = 'The rate rules have changed since this page was loaded: reload it and try again.';
    return refuse(409, 'stale', message);
  },
);

/** The rate and its history, the rules by which it is computed, and what other rules would give. */
export const rateRoutes = [showRates, tryRules, changeRules];
