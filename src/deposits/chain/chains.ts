import type { Clock } from '../../base/clock.ts';
import type { DepositChainSettings } from '../../base/deposit-settings.ts';
import type { DepositChains } from './deposit-chain.ts';

/** The libraries of chains are loaded only where one is configured. */
export async function openDepositChains(
  settings: DepositChainSettings[],
  clock: Clock,
): Promise<DepositChains> {
  if (settings.length === 0) return new Map();
  const { openChain } = await import('./open-chain.ts');
  return new Map(settings.map(chain => [chain.name, openChain(chain, clock)]));
}
