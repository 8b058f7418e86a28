import { systemClock } from '../base/clock.ts';
import * as payments from '../payments/index.ts';
import { month } from './arguments.ts';
import { type Context, type DatabaseCommand, group } from './command.ts';
import { lateProgressBar, refuse, table } from './output.ts';

export const archiveCommands = (command: DatabaseCommand) => {
  const move = command('move', 'move closed months of payments, events and entries to the archive', run)
    .requiredOption('--before <month>', 'the first month to keep, UTC, such as 2027-01', month)
    .option('--dry-run', 'count the rows without moving them');
  const rest = command('distribute', 'move the archive to the workers of a Citus cluster', distribute);
  const description = 'move closed months to the archive, and the archive to other servers';
  return group('archive', description, [move, rest], 'move');
};

async function run(
  { audit, terminal, progress }: Context,
  { before, dryRun: isDryRun = false }: { before: Date; dryRun?: boolean },
) {
  const cancelNotice = systemClock.timer(2_000, () => progress('Counting the rows to archive …'));
  const show = lateProgressBar(terminal.stderr);
  const onProgress = (done: number, of: number) => {
    cancelNotice();
    show(done, of);
  };
  const result = await payments.archiveMonths(audit, { before, isDryRun, onProgress }).finally(cancelNotice);
  if (result.outcome === 'under_way') refuse('under_way', underWay);
  if (result.outcome === 'not_closed')
    refuse(
      'not_closed',
      `A month can be archived ${payments.restDays} days after its end: use ${formatMonth(result.closedBefore)} or an earlier month.`,
    );
  return describe(result, formatMonth(before), isDryRun);
}

const formatMonth = (at: Date) => at.toISOString().slice(0, 7);

type Archived = Extract<payments.ArchiveResult, { outcome: 'archived' }>;

function describe({ months, payments, events, entries }: Archived, before: string, isDryRun: boolean) {
  const counted = months.length === 0 ? `There is nothing to archive before ${before}.` : tableOf(months);
  const moved = `Archived ${payments} payments, ${events} events and ${entries} entries from before ${before}.`;
  return {
    json: { before, dry_run: isDryRun, months, moved: { payments, events, entries } },
    text: isDryRun || months.length === 0 ? counted : `${counted}\n${moved}`,
  };
}

const tableOf = (months: Archived['months']) =>
  table(months, ({ month: name, payments, events, entries, bytes }) => ({
    month: name,
    payments,
    events,
    entries,
    MB: (bytes / 1_000_000).toFixed(1),
  }));

async function distribute({ audit, terminal: { stderr: screen } }: Context) {
  const bars = {
    copy: lateProgressBar(screen, 'rows copied'),
    verify: lateProgressBar(screen, 'rows compared'),
    drop: lateProgressBar(screen, 'tables put in place'),
  };
  const result = await payments.distributeArchive(audit, {
    onProgress: (phase, done, of) => bars[phase](done, of),
  });
  if (result.outcome === 'already_distributed')
    return { json: result, text: `The archive is on ${result.workers} workers already.` };
  if (result.outcome !== 'distributed')
    refuse(result.outcome, whyNotDistributed[result.outcome](result as never));
  return {
    json: result,
    text: `The archive is on ${result.workers} workers: ${result.rows} rows were moved by this run.`,
  };
}

const guide = 'see docs/operations/history-on-citus.md';
const underWay = 'Another archive command is running: wait until it finishes.';

type NotDistributed = Exclude<payments.DistributeResult, { workers: number }>;

const whyNotDistributed: {
  [Outcome in NotDistributed['outcome']]: (result: Extract<NotDistributed, { outcome: Outcome }>) => string;
} = {
  no_citus: () => `The database has no Citus: install it and create the extension citus, ${guide}.`,
  not_coordinator: () => 'This is a worker: set DATABASE_URL to the coordinator.',
  no_workers: () => `The coordinator has no workers: add them with citus_add_node, ${guide}.`,
  no_rights: ({ owner }) =>
    `This role may not change the tables of the archive: run the command as their owner, ${owner}.`,
  other_time_zone: ({ node, timeZone }) =>
    `The worker ${node} has the time zone ${timeZone}: set timezone = 'UTC' there.`,
  worker_unreachable: ({ node, reason }) => `The worker ${node} does not answer: ${reason.split('\n')[0]}.`,
  under_way: () => underWay,
};
