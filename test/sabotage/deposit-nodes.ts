import type { Sabotage } from './sabotage.ts';

const book = 'test/deposits/book.test.ts';
const reading = { file: 'src/deposits/watch/read-range.ts' };
const round = { file: 'src/deposits/watch/round.ts' };
const nodes = { test: 'test/deposits/nodes.test.ts' };

/** Guards against what nodes say of a chain. */
export const depositNodeSabotages: Sabotage[] = [
  {
    guard: 'final block of the node',
    ...round,
    test: book,
    pattern: /node\.block\('finalized'\)/,
    replacement: "node.block('latest')",
    failingTitle: 'a deposit is pending until its block is final',
  },
  {
    guard: 'confirmations',
    ...round,
    ...nodes,
    pattern: /head\.number - BigInt\(confirmations\)/,
    replacement: 'head.number',
    failingTitle: 'a TRON node without the tag finalized',
  },
  {
    guard: 'only logs of the range',
    ...reading,
    ...nodes,
    pattern: /log\.blockNumber <= toBlock/,
    replacement: 'true',
    failingTitle: 'a log above the range that was asked for',
  },
  {
    guard: 'transfers of nothing',
    ...reading,
    test: book,
    pattern: /amountOf\(log\.units, decimals\)\.microUsdt > 0n/,
    replacement: 'true',
    failingTitle: 'what must not be credited',
  },
  {
    guard: 'contract of deposits',
    ...reading,
    test: book,
    pattern: /log\.contract === contractAccount &&/,
    failingTitle: 'what must not be credited',
  },
  {
    guard: 'removed logs',
    file: 'src/deposits/chain/node.ts',
    test: book,
    pattern: /!removed &&/,
    failingTitle: 'what must not be credited',
  },
  {
    guard: 'logs of two nodes agree',
    ...reading,
    ...nodes,
    pattern: /!areSame\(readByAll\(other\.transfers\), transfers\)/,
    replacement: 'false',
    failingTitle: 'of two nodes one hides a deposit',
  },
  {
    guard: 'blocks of two nodes agree',
    ...reading,
    ...nodes,
    pattern: /end\.hash !== first!\.end\.hash/,
    replacement: 'false',
    failingTitle: 'of two nodes one has another final block',
  },
  {
    guard: 'log of a deposit is in its block',
    ...reading,
    ...nodes,
    pattern: /!areSame\(again, given\)/,
    replacement: 'false',
    failingTitle: 'a log that its block does not have',
  },
  {
    guard: 'block that was asked for',
    file: 'src/deposits/chain/node.ts',
    ...nodes,
    pattern: /block\.number !== at/,
    replacement: 'block.number < 0n',
    failingTitle: 'a later block than the one asked for',
  },
  {
    guard: 'block of a deposit',
    ...reading,
    ...nodes,
    pattern: /transfer\.blockHash !== blockHash/,
    replacement: 'false',
    failingTitle: 'a log of a block that is not in the chain',
  },
  {
    guard: 'block of the cursor stays',
    ...round,
    ...nodes,
    pattern: /\(await node\.block\(block\)\)\.hash !== hash/,
    replacement: 'false',
    failingTitle: 'a final block that is replaced',
  },
];
