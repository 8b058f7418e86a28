import { programName } from '../base/program-name.ts';
import { type RewindOutcome, rewindChain } from '../deposits/index.ts';
import { blockNumber, label } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { openConfiguredChain } from './deposit-chains.ts';
import type { Output } from './output.ts';
import { RefusedError } from './refused.ts';

export const rewindCommand = (withDatabase: WithDatabase) =>
  command('rewind', 'read the blocks of a chain again after this one; nothing is credited twice')
    .requiredOption('--chain <chain>', 'of this chain')
    .requiredOption('--block <number>', 'the last block that stays as it is booked', blockNumber)
    .requiredOption('--reason <reason>', 'why; stored in the audit log', label)
    .action(withDatabase(rewind));

async function rewind(
  { audit, settings }: CommandContext,
  { chain: name, block, reason }: { chain: string; block: bigint; reason: string },
): Promise<Output> {
  const chain = await openConfiguredChain(settings, name);
  const result = await rewindChain(audit, chain, { block, reason });
  if (result.outcome !== 'done') throw new RefusedError(result.outcome, refusals[result.outcome](block));
  return {
    json: {
      chain: name,
      from_block: `${result.fromBlock}`,
      to_block: `${result.toBlock}`,
      deposits_above: result.depositsAbove,
    },
    text: `All blocks of ${chain.title} after ${block} are read again; before it was those after ${result.fromBlock}. ${result.depositsAbove} deposits of them are on record and are not credited again. Afterwards compare each day with ${programName} deposit reconcile --chain ${name} --day DAY: it lists deposits that are not on the chain any more.`,
  };
}

const refusals: Record<Exclude<RewindOutcome['outcome'], 'done'>, (block: bigint) => string> = {
  not_watched: () => 'No block of this chain is booked yet: there is nothing to read again.',
  not_below: block => `Block ${block} is not below the last booked one: see ${programName} deposit chains.`,
  not_final: block => `Block ${block} is not final on all nodes. Choose an earlier one.`,
  nodes_disagree: block =>
    `The nodes have different blocks ${block}. Choose an earlier one, or replace the node that is wrong.`,
};
