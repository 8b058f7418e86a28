import type { Command } from 'commander';
import { describeServer, type ServerAddress } from '../base/database-url.ts';
import { sqlStateOf } from '../db/pool.ts';
import type { CitusNode } from '../db/shards/citus-nodes.ts';
import { type MoveProgress, moveShard, type ShardMove } from '../db/shards/move.ts';
import { nameOfSessions } from '../db/shards/nodes.ts';
import { movableShard, nodeAddress } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import type { Output, Screen } from './output.ts';
import { RefusedError } from './refused.ts';
import { listConnected } from './running-processes.ts';
import { refuseUnfitNode, unknownNode } from './shard-nodes.ts';

export const moveCommand = (withDatabase: WithDatabase): Command =>
  command('move', 'move a shard to another node of Citus while it serves')
    .argument('<shard>', 'its number', movableShard)
    .requiredOption('--to <host:port>', 'the node that gets it', nodeAddress)
    .action((shard: number, { to, json }) => withDatabase(json, context => move(context, shard, to, json)));

async function move(
  context: CommandContext,
  shard: number,
  target: ServerAddress,
  asJson: boolean,
): Promise<Output> {
  const { audit, screen, progress, onInterrupt } = context;
  let isInterrupted = false;
  let hasMoved = false;
  const startedMs = audit.clock.monotonicMs();
  const elapsedSec = () => Math.round((audit.clock.monotonicMs() - startedMs) / 1_000);
  const show = asJson ? jsonLines(screen) : progressLine(screen, shard, target);
  const result = await moveShard(audit, shard, target, {
    check: async node => refuseUnfitNode(audit.pool, node, (await listConnected(audit.pool)).length),
    onProgress: step => show(step, elapsedSec()),
    onStarted: cancel =>
      onInterrupt(async () => {
        isInterrupted = true;
        if (!hasMoved) await cancel();
        progress(hasMoved ? movedLine(shard) : interruptedLine(shard));
      }),
    onMoved: () => {
      hasMoved = true;
    },
    // After a signal the process ends when the line is printed.
  }).catch(error => (isInterrupted ? new Promise<never>(() => {}) : explain(error, shard)));
  if (screen.isTTY && !asJson) screen.write('\r\x1b[K');
  const { to, moved } = refuseUnlessThere(result, shard, target);
  const node = describeServer(to);
  if (!moved)
    return {
      json: { shard, moved: false, node },
      text: `Shard ${shard} is on ${node} already. Nothing was moved.`,
    };
  const { from, sessionsLeft } = moved;
  const old = describeServer(from);
  return {
    json: { shard, moved: true, node, elapsed_sec: elapsedSec(), sessions_left: sessionsLeft ?? null },
    text: `Shard ${shard} is on ${node} now. It took ${elapsedSec()} s. ${old} removes its copy by itself.${
      sessionsLeft === 0
        ? ''
        : ` Do not stop ${old} while pg_stat_activity there has sessions named ${nameOfSessions(shard)} (${sessionsLeft ?? 'it could not be asked'}).`
    }`,
  };
}

const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(1);
/** A file or a pipe gets a line at each change of the phase, and every so often. */
const lineEverySec = 10;

function progressLine(screen: Screen, shard: number, target: ServerAddress) {
  let last = { phase: '', sec: 0 };
  return ({ phase, copiedBytes, bytes }: MoveProgress, sec: number) => {
    const line = `Moving shard ${shard} to ${describeServer(target)}: ${phase}, ${megabytes(copiedBytes)} of ${megabytes(bytes)} MB, ${sec} s`;
    if (screen.isTTY) return void screen.write(`\r\x1b[K${line}`);
    if (phase === last.phase && sec - last.sec < lineEverySec) return;
    last = { phase, sec };
    screen.write(`${line}\n`);
  };
}

const jsonLines =
  (screen: Screen) =>
  ({ phase, copiedBytes, bytes }: MoveProgress, sec: number) =>
    void screen.write(`${JSON.stringify({ phase, copied_bytes: copiedBytes, bytes, elapsed_sec: sec })}\n`);

/** Cancelled, or the connection was lost. */
function explain(error: unknown, shard: number): never {
  if (sqlStateOf(error) === '42501')
    throw new RefusedError(
      'not_the_owner',
      `The database user may not move a shard (${(error as Error).message}): run this with the DATABASE_URL of the schema's owner. Nothing was changed.`,
    );
  if (sqlStateOf(error) !== '57014') throw error;
  throw new RefusedError('interrupted', interruptedLine(shard));
}

const movedLine = (shard: number) =>
  `Shard ${shard} has moved. Do not stop its old node while pg_stat_activity there has sessions named ${nameOfSessions(shard)}.`;

const interruptedLine = (shard: number) =>
  `The move was interrupted: shard ${shard} stays where it was, and serves. Citus removes what was copied, within a minute or with CALL citus_cleanup_orphaned_resources(). The same command begins again.`;

interface Arrival {
  to: CitusNode;
  /** Undefined if it was there already. */
  moved?: Extract<ShardMove, { outcome: 'moved' }>;
}

function refuseUnlessThere(result: ShardMove, shard: number, target: ServerAddress): Arrival {
  switch (result.outcome) {
    case 'moved':
      return { to: result.to, moved: result };
    case 'already_there':
      return { to: result.to };
    case 'no_shard':
      throw new RefusedError('no_shard', `There is no shard ${shard}: see kopeck shard list.`);
    case 'not_distributed':
      throw new RefusedError(
        'not_distributed',
        `Shard ${shard} was created without Citus, on the server of the database, and stays there.`,
      );
    case 'unknown_node':
      throw unknownNode(target, result.nodes);
    case 'moving':
      throw new RefusedError(
        'moving',
        `A move of shard ${shard} is under way. Repeat the command when it has ended; SELECT * FROM get_rebalance_progress() shows how far it is.`,
      );
    case 'not_logical':
      throw new RefusedError(
        'not_logical',
        `${describeServer(result.node)} has not wal_level = logical, with which rows are copied while they change: set it and restart that node. Nothing was changed.`,
      );
    case 'copy_in_use':
      throw new RefusedError(
        'copy_in_use',
        `${describeServer(target)} still has a copy of shard ${shard} from an earlier move, which Citus cannot remove, as a rule because an open transaction reads it: end that transaction (pg_stat_activity of that node shows it) and repeat the command. The shard stays where it was.`,
      );
    case 'other_schema':
      throw new RefusedError(
        'other_schema',
        'The schema of the database is of another version: finish the upgrade first, and run this with the new version. Nothing was changed.',
      );
    case 'busy':
      throw new RefusedError(
        'busy',
        'Another process changes the schema, as during an upgrade: try again when it is over. Nothing was changed.',
      );
  }
}
