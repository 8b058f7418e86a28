import { systemClock } from '../base/clock.ts';
import { OperatorError } from '../base/operator-error.ts';
import { type DepositChains, openDepositChains } from '../deposits/index.ts';
import type { CommandContext } from './command.ts';

export async function openConfigured(settings: CommandContext['settings']): Promise<DepositChains> {
  if (settings.depositChains.length > 0) return openDepositChains(settings.depositChains, systemClock);
  throw new OperatorError('DEPOSIT_CHAINS is not set: no deposits are accepted.');
}

export const notConfigured = (chain: string, chains: DepositChains) =>
  new OperatorError(`"${chain}" is not in DEPOSIT_CHAINS: it has ${[...chains.keys()].join(', ')}.`);

export async function openConfiguredChain(settings: CommandContext['settings'], name: string) {
  const chains = await openConfigured(settings);
  const chain = [...chains.values()].find(candidate => candidate.name === name);
  if (!chain) throw notConfigured(name, chains);
  return chain;
}
