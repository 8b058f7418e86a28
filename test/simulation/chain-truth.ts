import { ascending } from '../../src/base/money.ts';
import type { Block, SimulatedChain } from './chain.ts';
import { logsOf } from './chain-logs.ts';
import { contract } from './chain-nodes.ts';

/** A transfer that is worth something to one of our accounts. */
export interface RealDeposit {
  /** Transaction, partner, and place among the transfers of the transaction to the partner. */
  key: string;
  uuid: string;
  account: string;
  blockNumber: number;
  units: bigint;
  microUsdt: bigint;
}

interface Parts {
  chain: SimulatedChain;
  decimals: number;
  /** By account. */
  uuidOf: ReadonlyMap<string, string>;
}

/** What was really transferred to partners. */
export function createChainTruth({ chain, decimals, uuidOf }: Parts) {
  const unitsPerMicro = 10n ** BigInt(decimals - 6);
  const ofBlocks = new WeakMap<Block, RealDeposit[]>();

  function read(block: Block): RealDeposit[] {
    const counts = new Map<string, number>();
    return logsOf(block).flatMap(log => {
      const uuid = uuidOf.get(log.account);
      const microUsdt = log.units / unitsPerMicro;
      if (log.contract !== contract || uuid === undefined || microUsdt === 0n) return [];
      const counted = `${log.transaction} ${uuid}`;
      const ordinal = counts.get(counted) ?? 0;
      counts.set(counted, ordinal + 1);
      const { account, blockNumber, units } = log;
      return [{ key: `${counted} ${ordinal}`, uuid, account, blockNumber, units, microUsdt }];
    });
  }

  function depositsOf(block: Block): RealDeposit[] {
    const deposits = ofBlocks.get(block) ?? read(block);
    ofBlocks.set(block, deposits);
    return deposits;
  }

  /** Of a block and all before it, whether or not they are still on the chain. */
  function upTo(last: Block): RealDeposit[] {
    const deposits: RealDeposit[] = [];
    for (let block: Block | undefined = last; block; block = block.parent)
      deposits.push(...depositsOf(block));
    return deposits;
  }

  let finalAt = -1;
  /** Of blocks that were final at any time, by key: what one transaction did in one block, and then in another. */
  const final = new Map<string, RealDeposit[]>();
  function everFinal(): ReadonlyMap<string, RealDeposit[]> {
    if (finalAt === chain.version()) return final;
    finalAt = chain.version();
    final.clear();
    for (const deposit of [...chain.everFinal].flatMap(depositsOf))
      final.set(deposit.key, [...(final.get(deposit.key) ?? []), deposit]);
    return final;
  }

  /** As much as the partner may be credited at most. */
  function mostOf(uuid: string): bigint {
    let sum = 0n;
    for (const versions of everFinal().values()) {
      if (versions[0]!.uuid !== uuid) continue;
      sum += ascending(versions.map(({ microUsdt }) => microUsdt)).at(-1)!;
    }
    return sum;
  }

  return { depositsOf, upTo, everFinal, mostOf };
}

export type ChainTruth = ReturnType<typeof createChainTruth>;
