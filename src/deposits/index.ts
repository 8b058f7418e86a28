export { type DepositAddress, openAddresses, readSweep } from './addresses.ts';
export { openDepositChains } from './chain/chains.ts';
export type { DepositChains } from './chain/deposit-chain.ts';
export { refuseOtherKeys, startNodeCheck } from './check-nodes.ts';
export { creditTestDeposit } from './credit.ts';
export {
  type DepositDecision,
  type DepositRefusal,
  decideDeposit,
  decideDepositIn,
  lockDeposit,
} from './decide.ts';
export {
  countHeld,
  type Deposit,
  depositGauges,
  depositStates,
  findDepositor,
  listChainProgress,
  listDeposits,
  type SomeDeposit,
  searchDeposits,
} from './deposits.ts';
export { type DepositDifference, type DepositDifferenceKind, reconcileDeposits } from './reconcile.ts';
export { type RewindOutcome, rewindChain } from './rewind.ts';
export { startDepositWatchers } from './watch/watcher.ts';
