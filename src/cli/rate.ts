import { Command } from 'commander';
import { formatRate } from '../base/money.ts';
import { explainRate, isStale, type Part, readCurrentRate } from '../rates/index.ts';
import { atWork, command, type Workplace } from './command.ts';
import { details, formatInstant, type Output, table } from './output.ts';
import { RefusedError } from './refused.ts';

export function rateCommands(): Command {
  return new Command('rate')
    .description('what a USDT is worth')
    .addCommand(
      command('show', 'the current rate, its age, and what each source said').action(({ json }) =>
        atWork(json, showRate),
      ),
    );
}

async function showRate({ desk, settings }: Workplace): Promise<Output> {
  const current = await readCurrentRate(desk.pool);
  const rate = current && (await explainRate(desk.pool, current.rateId));
  if (!rate) {
    throw new RefusedError(
      'rate_unavailable',
      'There is no rate yet: kopeck start fetches one from RATE_SOURCES.',
    );
  }
  const maxAgeSec = settings.rateMaxAgeSec;
  const stale = isStale(rate, desk.clock, maxAgeSec);
  const ageSec = Math.max(0, Math.trunc((desk.clock.nowMs() - rate.asOf.getTime()) / 1_000));
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
  const summary = details([
    ['rate', `${json.rate} RUB for 1 USDT`],
    ['market', json.mid],
    ['spread', `${rate.spreadBps} bps`],
    ['as of', `${formatInstant(rate.asOf)} UTC, ${ageSec} s ago`],
    ['state', stale ? `stale: older than ${maxAgeSec} s` : 'fresh'],
    ['number', `${rate.rateId}`],
  ]);
  const sources = table(
    ['source', 'outcome', 'price', 'as of (UTC)', 'reason'],
    rate.parts.map(part =>
      part.outcome === 'failed'
        ? [part.source, part.outcome, '', '', part.reason]
        : [part.source, part.outcome, formatRate(part.midE4), formatInstant(new Date(part.asOfMs)), ''],
    ),
  );
  return { json, text: `${summary}\n\n${sources}` };
}

const describePart = (part: Part) =>
  part.outcome === 'failed'
    ? { source: part.source, outcome: part.outcome, reason: part.reason }
    : {
        source: part.source,
        outcome: part.outcome,
        mid: formatRate(part.midE4),
        as_of: Math.trunc(part.asOfMs / 1_000),
      };
