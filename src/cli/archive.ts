import { Command } from 'commander';
import { systemClock } from '../base/clock.ts';
import { type ArchiveResult, archiveMonths, restDays } from '../payments/index.ts';
import { distributeCommand } from './archive-distribute.ts';
import { month } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { type Output, progressBar, table } from './output.ts';
import { RefusedError } from './refused.ts';

export function archiveCommands(withDatabase: WithDatabase): Command {
  return new Command('archive')
    .description('move closed months to the archive, and the archive to other servers')
    .addCommand(moveCommand(withDatabase), { isDefault: true })
    .addCommand(distributeCommand(withDatabase));
}

function moveCommand(withDatabase: WithDatabase): Command {
  return command('move', 'move closed months of payments, events and entries to the archive')
    .requiredOption('--before <month>', 'the first month to keep, UTC, such as 2027-01', month)
    .option('--dry-run', 'count the rows without moving them')
    .action(withDatabase(run));
}

async function run(
  { audit, screen, progress }: CommandContext,
  { before, dryRun: isDryRun = false }: { before: Date; dryRun?: boolean },
): Promise<Output> {
  const startedAt = systemClock.monotonicMs();
  const cancelNotice = systemClock.timer(2_000, () => progress('Counting the rows to archive …'));
  let show: ((done: number) => void) | undefined;
  const onProgress = (done: number, of: number) => {
    cancelNotice();
    if (systemClock.monotonicMs() - startedAt > 2_000) show ??= progressBar(of, screen);
    show?.(done);
  };
  const result = await archiveMonths(audit, { before, isDryRun, onProgress }).finally(cancelNotice);
  return describe(result, formatMonth(before), isDryRun);
}

const formatMonth = (at: Date) => at.toISOString().slice(0, 7);

function describe(result: ArchiveResult, before: string, isDryRun: boolean): Output {
  switch (result.outcome) {
    case 'not_closed':
      throw new RefusedError(
        'not_closed',
        `A month can be archived ${restDays} days after its end: use ${formatMonth(result.closedBefore)} or an earlier month.`,
      );
    case 'under_way':
      throw new RefusedError('under_way', 'Another archive command is running: wait until it finishes.');
    case 'archived': {
      const { months, payments, events, entries } = result;
      const counted = months.length === 0 ? `There is nothing to archive before ${before}.` : tableOf(months);
      const moved = `Archived ${payments} payments, ${events} events and ${entries} entries from before ${before}.`;
      return {
        json: { before, dry_run: isDryRun, months, moved: { payments, events, entries } },
        text: isDryRun || months.length === 0 ? counted : `${counted}\n${moved}`,
      };
    }
  }
}

const tableOf = (months: Extract<ArchiveResult, { outcome: 'archived' }>['months']) =>
  table(months, ({ month: name, payments, events, entries, bytes }) => ({
    month: name,
    payments,
    events,
    entries,
    MB: (bytes / 1_000_000).toFixed(1),
  }));
