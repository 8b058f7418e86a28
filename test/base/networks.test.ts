import { expect, test } from 'vitest';
import { addressUrl, chainNames, networkOf, transactionUrl } from '../../src/base/deposit-settings.ts';

test('networks are named as exchanges name them', () => {
  expect(chainNames.map(networkOf)).toEqual([
    'TRON (TRC-20)',
    'Ethereum (ERC-20)',
    'BNB Smart Chain (BEP-20)',
  ]);
});

test('transactions and addresses lead to the explorer of their network', () => {
  const hash = `0x${'1a'.repeat(32)}`;
  expect(chainNames.map(name => transactionUrl(name, hash))).toEqual([
    `https://tronscan.org/#/transaction/${hash.slice(2)}`,
    `https://etherscan.io/tx/${hash}`,
    `https://bscscan.com/tx/${hash}`,
  ]);
  expect(chainNames.map(name => addressUrl(name, 'T1'))).toEqual([
    'https://tronscan.org/#/address/T1',
    'https://etherscan.io/address/T1',
    'https://bscscan.com/address/T1',
  ]);
});

test('what a node says cannot lead anywhere else', () => {
  expect(transactionUrl('ethereum', '../x?y#z')).toBe('https://etherscan.io/tx/..%2Fx%3Fy%23z');
});
