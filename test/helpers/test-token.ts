import { encodeEventTopics, pad, parseAbi, toFunctionSelector, toHex } from 'viem';

const [transferTopic] = encodeEventTopics({
  abi: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']),
});
const selectors = {
  decimals: toFunctionSelector('decimals()'),
  balanceOf: toFunctionSelector('balanceOf(address)'),
  transfer: toFunctionSelector('transfer(address,uint256)'),
};

const operations = {
  ADD: '01',
  LT: '10',
  EQ: '14',
  ISZERO: '15',
  SHR: '1c',
  CALLER: '33',
  CALLDATALOAD: '35',
  CALLDATASIZE: '36',
  MSTORE: '52',
  SLOAD: '54',
  SSTORE: '55',
  JUMP: '56',
  JUMPI: '57',
  DUP1: '80',
  DUP2: '81',
  SWAP1: '90',
  LOG3: 'a3',
  RETURN: 'f3',
} as const;
const jumpDestination = '5b';

/**
 * `0x…` pushes these bytes, a name with a colon is a label, `@name` pushes its place, and everything else is an operation.
 * What stands right of `;` is the stack after the line, with its top at the right.
 */
function assemble(source: string): string {
  const tokens = source
    .split('\n')
    .flatMap(line => line.split(';')[0]!.trim().split(/\s+/))
    .filter(token => token !== '');
  const places = new Map<string, string>();
  const codeOf = (token: string, at: number): string => {
    if (token.endsWith(':')) {
      places.set(`@${token.slice(0, -1)}`, toHex(at, { size: 1 }).slice(2));
      return jumpDestination;
    }
    // PUSH1 is 60, PUSH32 is 7f.
    if (token.startsWith('0x')) return (0x5f + (token.length - 2) / 2).toString(16) + token.slice(2);
    if (token.startsWith('@')) return `60${places.get(token) ?? '00'}`;
    return operations[token as keyof typeof operations];
  };
  // Labels that come later are known the second time.
  const pass = () => tokens.reduce((code, token) => code + codeOf(token, code.length / 2), '');
  pass();
  return pass();
}

/**
 * A token with as much of ERC-20 as a watcher and a sweep see: `decimals()`, `balanceOf(address)` and `transfer(address,uint256)`.
 * A transfer may have more pairs of an account and a value: then it is a payout to several accounts in one transaction. Tokens
 * come from nowhere: the sender needs none.
 */
const runtimeOf = (decimals: number) =>
  assemble(`
    0x00 CALLDATALOAD 0xe0 SHR             ; selector
    DUP1 ${selectors.decimals} EQ @decimals JUMPI
    DUP1 ${selectors.balanceOf} EQ @balance JUMPI
    0x04                                   ; selector place
  next:
    CALLDATASIZE DUP2 LT ISZERO @end JUMPI
    DUP1 0x20 ADD CALLDATALOAD             ; selector place value
    DUP1 0x00 MSTORE
    DUP2 CALLDATALOAD                      ; selector place value receiver
    SWAP1 DUP2 SLOAD ADD                   ; selector place receiver balance
    DUP2 SSTORE                            ; selector place receiver
    CALLER ${transferTopic} 0x20 0x00 LOG3 ; selector place
    0x40 ADD @next JUMP
  end:
    0x01 @answer JUMP
  decimals:
    ${toHex(decimals, { size: 1 })} @answer JUMP
  balance:
    0x04 CALLDATALOAD SLOAD
  answer:
    0x00 MSTORE 0x20 0x00 RETURN
  `);

/** Copies what follows it, which is the contract, and returns it: CODECOPY is 39. */
function deploymentOf(runtime: string): `0x${string}` {
  return `0x60${(runtime.length / 2).toString(16).padStart(2, '0')}80600b6000396000f3${runtime}`;
}

export const tokenDeployment = (decimals: number) => deploymentOf(runtimeOf(decimals));

export interface TokenTransfer {
  account: string;
  units: bigint;
}

const word = (hex: `0x${string}`) => pad(hex, { size: 32 }).slice(2);

export const transferData = (transfers: TokenTransfer[]): string =>
  selectors.transfer +
  transfers.map(({ account, units }) => word(account as `0x${string}`) + word(toHex(units))).join('');
