import { formatRate } from '../base/money.ts';
import { programName } from '../base/program-name.ts';
import * as rates from '../rates/index.ts';
import { basisPoints, hundredths, label } from './arguments.ts';
import { type Context, type DatabaseCommand, group } from './command.ts';
import { details, formatInstant, type Output, refuse, table } from './output.ts';

export const rateCommands = (command: DatabaseCommand) =>
  group('rate', 'show the USDT/RUB rate and its rules', [
    command('show', 'show the current rate, its age and the price of each source', showRate),
    command('rules', 'show or change the rate rules', showOrChangeRules)
      .option('--spread-bps <count>', 'margin of the service in basis points', basisPoints)
      .option('--band-percent <percent>', 'ignore sources further than this from the median', hundredths)
      .option('--jump-percent <percent>', 'a larger jump needs two sources', hundredths)
      .option('--reason <reason>', 'reason for the change; stored in the audit log', label)
      .hook('preAction', self => {
        const { json: _json, reason, ...changes } = self.opts();
        if (Object.keys(changes).length > 0 !== (reason !== undefined))
          self.error('error: a change needs --reason, and --reason needs a change');
      }),
  ]);

interface GivenRules {
  spreadBps?: number;
  /** In hundredths of a percent, as the option is parsed. */
  bandPercent?: number;
  jumpPercent?: number;
  reason?: string;
}

async function showOrChangeRules({ audit, settings: { rateSpreadBps } }: Context, given: GivenRules) {
  const before = await rates.readRateRules(audit.pool, rateSpreadBps);
  if (given.reason === undefined) return describeRules(before);
  const { spreadBps = before.spreadBps, bandPercent = before.bandBps, jumpPercent = before.jumpBps } = given;
  const verdict = await rates.changeRateRules(audit, rateSpreadBps, {
    rules: { spreadBps, bandBps: bandPercent, jumpBps: jumpPercent },
    reason: given.reason,
    expectedVersion: before.version,
  });
  if (verdict.outcome === 'stale')
    refuse('stale', 'The rules were changed at the same time: check them and try again.');
  return describeRules(verdict.rules);
}

function describeRules(rules: rates.CurrentRules): Output {
  const json = {
    version: rules.version,
    ...rates.rulesObject(rules),
    set_by: rules.setBy,
    reason: rules.reason,
  };
  return {
    json,
    text: details({
      spread: `${json.spread_bps} bps`,
      band: `${json.band_percent}%`,
      jump: `${json.jump_percent}%`,
      version: rules.version,
      'set by': rules.setBy
        ? `${rules.setBy}, ${formatInstant(rules.setAt)} UTC`
        : 'default (from the settings)',
      reason: rules.reason ?? '–',
    }),
  };
}

async function showRate({ audit, settings }: Context) {
  const current = await rates.readCurrentRate(audit.pool);
  const rate = current && (await rates.explainRate(audit.pool, current.rateId));
  if (!rate) {
    refuse('rate_unavailable', `There is no rate yet: ${programName} start fetches one from RATE_SOURCES.`);
  }
  const maxAgeSec = settings.rateMaxAgeSec;
  const stale = rates.isStale(rate, audit.clock, maxAgeSec);
  const ageSec = Math.max(0, Math.trunc((audit.clock.nowMs() - rate.asOf.getTime()) / 1_000));
  const json = {
    rate_id: Number(rate.rateId),
    pair: 'USDT/RUB',
    rate: formatRate(rate.rateE4),
    mid: formatRate(rate.midE4),
    spread_bps: rate.spreadBps,
    as_of: Math.trunc(rate.asOf.getTime() / 1_000),
    age_sec: ageSec,
    max_age_sec: maxAgeSec,
    stale,
    sources: rate.parts.map(describePart),
  };
  const summary = details({
    rate: `${json.rate} RUB for 1 USDT`,
    'mid rate': json.mid,
    spread: `${rate.spreadBps} bps`,
    'as of': `${formatInstant(rate.asOf)} UTC, ${ageSec} s ago`,
    state: stale ? `stale: older than ${maxAgeSec} s` : 'fresh',
    'rate id': rate.rateId,
  });
  const sources = table(rate.parts, part => ({
    source: part.source,
    outcome: part.outcome,
    price: part.outcome === 'failed' ? '' : formatRate(part.midE4),
    'as of (UTC)': part.outcome === 'failed' ? '' : new Date(part.asOfMs),
    reason: part.outcome === 'failed' ? part.reason : '',
  }));
  return { json, text: `${summary}\n\n${sources}` };
}

const describePart = (part: rates.Part) =>
  part.outcome === 'failed'
    ? { source: part.source, outcome: part.outcome, reason: part.reason }
    : {
        source: part.source,
        outcome: part.outcome,
        mid: formatRate(part.midE4),
        as_of: Math.trunc(part.asOfMs / 1_000),
      };
