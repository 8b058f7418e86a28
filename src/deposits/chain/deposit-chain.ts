import type { ChainName, DepositChainSettings } from '../../base/deposit-settings.ts';
import type { Id } from '../../base/ids.ts';
import type { ChainNode } from './node.ts';

/** Where a partner's deposits go. The account is the address as the chain's logs have it. */
export interface DerivedAddress {
  address: string;
  account: string;
  path: string;
}

/** A configured chain, with its nodes and its extended public key. */
export interface DepositChain extends Omit<DepositChainSettings, 'rpcUrls' | 'xpub' | 'contract'> {
  nodes: ChainNode[];
  /** 20 bytes in lower-case hexadecimal. */
  contractAccount: string;
  deriveAddress(partnerId: Id<'prt'>): DerivedAddress;
  /** An account of a log as people write it. */
  formatAccount(account: string): string;
}

export type DepositChains = ReadonlyMap<ChainName, DepositChain>;
