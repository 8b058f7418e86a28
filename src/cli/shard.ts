import { Command } from 'commander';
import { describeServer, type ServerAddress } from '../base/database-url.ts';
import { connectionsOfProcess, readConnectionLimits } from '../db/connection-limits.ts';
import { sqlStateOf } from '../db/pool.ts';
import { createShard, maxShards, type ShardCreation } from '../db/shards/create.ts';
import { readShardFigures, type ShardFigures } from '../db/shards/figures.ts';
import { listShards } from '../db/shards/layout.ts';
import { nodeAddress, shardNumber } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { type Output, table } from './output.ts';
import { RefusedError } from './refused.ts';
import { listConnected } from './running-processes.ts';
import { moveCommand } from './shard-move.ts';
import { chooseNode, notOnCitus, unknownNode, withoutNodes } from './shard-nodes.ts';

export function shardCommands(withDatabase: WithDatabase): Command {
  return new Command('shard')
    .description('list, create and move shards')
    .addCommand(
      command('list', 'list the shards with their partners, rows, size and payments a minute').action(
        ({ json }) => withDatabase(json, list),
      ),
    )
    .addCommand(
      command('create', 'create the next shard while the service runs')
        .argument(
          '[number]',
          'the number that it must get, so that a repeat creates no second one',
          shardNumber,
        )
        .option(
          '--node <host:port>',
          'with Citus: where; by default the node with the fewest shards',
          nodeAddress,
        )
        .action((number: number | undefined, { node, json }) =>
          withDatabase(json, context => create(context, number, node)),
        ),
    )
    .addCommand(moveCommand(withDatabase));
}

async function list({ audit }: CommandContext): Promise<Output> {
  const shards = await readShardFigures(audit.pool, audit.clock);
  return {
    json: { shards: shards.map(shardObject) },
    text: table(
      ['shard', 'node', 'partners', 'rows (about)', 'MB', 'payments a minute'],
      shards.map(({ shard, node, partners, rows, bytes, paymentsPerMinute }) => [
        `${shard}`,
        node ?? 'this server',
        `${partners}`,
        `${rows}`,
        (bytes / 1_000_000).toFixed(1),
        `${paymentsPerMinute ?? 'cannot be read'}`,
      ]),
    ),
    isBad: shards.some(({ paymentsPerMinute }) => paymentsPerMinute === undefined),
  };
}

const shardObject = ({ shard, createdAt, node, partners, rows, bytes, paymentsPerMinute }: ShardFigures) => ({
  shard,
  created_at: createdAt,
  node: node ?? null,
  partners,
  rows,
  bytes,
  payments_per_minute: paymentsPerMinute ?? null,
});

async function create(
  context: CommandContext,
  number: number | undefined,
  wanted: ServerAddress | undefined,
): Promise<Output> {
  const { audit, progress } = context;
  const running = await refuseWithoutConnections(context, number);
  const node = await chooseNode(audit.pool, wanted, running.length);
  const late = setTimeout(() => progress('Creating the shard …'), 2_000);
  const result = await createShard(audit, {
    number,
    node,
    onBusy: tries =>
      progress(`Tables are in use, or another process changes the schema: trying again (${tries}) …`),
  })
    .catch(explainRights)
    .finally(() => clearTimeout(late));
  const shard = refuseUnlessThere(result);
  if (result.outcome === 'exists')
    return {
      json: { shard, created: false },
      text: `There is a shard ${shard} already. Nothing was changed.`,
    };
  const left = await waitForProcesses(context, running);
  const processes = `${running.length - left} of ${running.length} processes of the service know it`;
  const where = node ? ` on ${describeServer(node)}` : '';
  return {
    json: {
      shard,
      created: true,
      ...(node ? { node: describeServer(node) } : {}),
      processes: running.length,
      processes_left: left,
    },
    text:
      left === 0
        ? `Shard ${shard} is created${where}${running.length === 0 ? '' : `, and ${processes}`}. New partners go to the shard with the fewest payments.`
        : `Shard ${shard} is created${where}, and ${processes}. The others answer 503 to live payments until they have joined again: see their logs.`,
    isBad: left > 0,
  };
}

/** Processes join the database again to use the new shard, and must find enough connections then. */
async function refuseWithoutConnections(
  { audit }: CommandContext,
  number: number | undefined,
): Promise<number[]> {
  const running = await listConnected(audit.pool);
  const shards = (await listShards(audit.pool)).length;
  const { allowed } = await readConnectionLimits(audit.pool);
  const needed = running.length * connectionsOfProcess(shards + 1);
  if (needed > allowed && (number ?? shards) >= shards)
    throw new RefusedError(
      'too_few_connections',
      `With ${shards + 1} shards the ${running.length} running processes may open ${needed} connections, and PostgreSQL allows ${allowed}: raise max_connections, or lower PROCESSES. Nothing was changed.`,
    );
  return running;
}

function explainRights(error: unknown): never {
  if (sqlStateOf(error) !== '42501') throw error;
  throw new RefusedError(
    'not_the_owner',
    `The database user may not create a schema (${(error as Error).message}): run this with the DATABASE_URL of the schema's owner. Nothing was changed.`,
  );
}

function refuseUnlessThere(result: ShardCreation): number {
  switch (result.outcome) {
    case 'created':
    case 'exists':
      return result.shard;
    case 'not_next':
      throw new RefusedError(
        'not_next',
        `The next shard is ${result.next}: shards are numbered without gaps.`,
      );
    case 'full':
      throw new RefusedError('full', `There are ${maxShards} shards, and there can be no more.`);
    case 'no_nodes':
      throw withoutNodes();
    case 'unknown_node':
      throw result.nodes ? unknownNode(result.node, result.nodes) : notOnCitus();
    case 'other_schema':
      throw new RefusedError(
        'other_schema',
        'The schema of the database is of another version: run this with the version that migrated it. Nothing was changed.',
      );
    case 'busy':
      throw new RefusedError(
        'busy',
        'Tables stayed in use, or another process changes the schema: try again later. Nothing was changed.',
      );
  }
}

const pollMs = 250;
const maxWaitMs = 60_000;

/** Until as many have joined the database again, which gives them new numbers, as ran before. Returns how many have not. */
async function waitForProcesses({ audit, progress }: CommandContext, running: number[]): Promise<number> {
  const { pool, clock } = audit;
  const startedMs = clock.monotonicMs();
  let isShown = false;
  for (;;) {
    const joined = (await listConnected(pool)).filter(instance => !running.includes(instance)).length;
    const left = Math.max(0, running.length - joined);
    const waitedMs = clock.monotonicMs() - startedMs;
    if (left === 0 || waitedMs > maxWaitMs) return left;
    if (waitedMs > 2_000 && !isShown) {
      progress(`Waiting for ${left} processes of the service to join the database again …`);
      isShown = true;
    }
    await clock.sleep(pollMs);
  }
}
