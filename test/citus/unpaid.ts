import { uuidFromId } from '../../src/base/ids.ts';
import type { Round } from '../faults/round.ts';
import type { Partner } from '../faults/world.ts';

/** What may hold locks: transactions that were prepared, and those that have lasted for long. */
const suspects = `SELECT json_build_object(
  'prepared', (SELECT json_agg(gid) FROM pg_prepared_xacts),
  'open', (SELECT json_agg(json_build_object('by', application_name, 'state', state, 'waits', wait_event, 'query', left(query, 120),
                                             'blocked', pg_blocking_pids(pid)))
             FROM pg_stat_activity WHERE xact_start < now() - interval '2 s' AND backend_type = 'client backend'))`;

/** For the report of a failed round: who cannot pay, the shard, the last answer, what goes on at every node, and the logs. */
export async function describeUnpaid({ world, calls }: Round, partners: Partner[]): Promise<string> {
  const { rows: shards } = await world.pool.query('SELECT id, shard FROM partners WHERE id = ANY ($1)', [
    partners.map(({ partnerId }) => uuidFromId(partnerId)),
  ]);
  const answers = partners.map(
    partner => calls.findLast(({ what, order }) => what === 'pay' && order!.partner === partner)?.result,
  );
  const { rows: nodes } = await world.pool.query('SELECT * FROM run_command_on_all_nodes($1)', [suspects]);
  return JSON.stringify({ shards, answers, nodes, log: world.lastLines() }, undefined, 1);
}
