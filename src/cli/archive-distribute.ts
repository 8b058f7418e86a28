import { type DistributeResult, distributeArchive } from '../payments/index.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { lateProgressBar, type Output } from './output.ts';
import { RefusedError } from './refused.ts';

export const distributeCommand = (withDatabase: WithDatabase) =>
  command('distribute', 'move the archive to the workers of a Citus cluster').action(withDatabase(run));

const units = { copy: 'rows copied', verify: 'rows compared', drop: 'tables put in place' };

async function run({ audit, screen }: CommandContext): Promise<Output> {
  const rows = (count: number) => count;
  const bars = {
    copy: lateProgressBar(screen, rows, units.copy),
    verify: lateProgressBar(screen, rows, units.verify),
    drop: lateProgressBar(screen, rows, units.drop),
  };
  return describe(await distributeArchive(audit, { onProgress: (phase, done, of) => bars[phase](done, of) }));
}

const guide = 'see docs/operations/history-on-citus.md';

function describe(result: DistributeResult): Output {
  switch (result.outcome) {
    case 'distributed':
      return {
        json: result,
        text: `The archive is on ${result.workers} workers: ${result.rows} rows were moved by this run.`,
      };
    case 'already_distributed':
      return { json: result, text: `The archive is on ${result.workers} workers already.` };
    case 'no_citus':
      throw new RefusedError(
        'no_citus',
        `The database has no Citus: install it and create the extension citus, ${guide}.`,
      );
    case 'not_coordinator':
      throw new RefusedError('not_coordinator', 'This is a worker: set DATABASE_URL to the coordinator.');
    case 'no_workers':
      throw new RefusedError(
        'no_workers',
        `The coordinator has no workers: add them with citus_add_node, ${guide}.`,
      );
    case 'no_rights':
      throw new RefusedError(
        'no_rights',
        `This role may not change the tables of the archive: run the command as their owner, ${result.owner}.`,
      );
    case 'other_time_zone':
      throw new RefusedError(
        'other_time_zone',
        `The worker ${result.node} has the time zone ${result.timeZone}: set timezone = 'UTC' there.`,
      );
    case 'worker_unreachable':
      throw new RefusedError(
        'worker_unreachable',
        `The worker ${result.node} does not answer: ${result.reason.split('\n')[0]}.`,
      );
    case 'under_way':
      throw new RefusedError('under_way', 'Another archive command is running: wait until it finishes.');
  }
}
