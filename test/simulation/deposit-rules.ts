import type { SimulatedChain } from './chain.ts';
import type { ChainTruth } from './chain-truth.ts';
import { type BookedDeposit, type Books, isFinal, type Known, sumBy } from './deposit-record.ts';
import type { World } from './world.ts';

/** Who may credit or reject a deposit. */
export interface StateRules {
  isScreened: boolean;
  isAllowed(deposit: BookedDeposit): boolean;
  isDecided(key: string, outcome: 'credited' | 'rejected'): boolean;
}

interface Parts {
  chain: SimulatedChain;
  truth: ChainTruth;
  uuids: string[];
  refusedAlone: ReadonlySet<string>;
  rules: StateRules;
}

type Rule = (world: World, parts: Parts, books: Books, before: Known) => void;

const maxMicroUsdt = 10n ** 15n;

/** The cursor never passes a transfer that is neither on record nor reported, on whichever branch its block is. */
const checkCursor: Rule = ({ violate }, { chain, truth, refusedAlone }, { cursor, deposits, unread }) => {
  const block = chain.find(cursor.hash);
  if (!block || block.number !== cursor.block || !chain.everFinal.has(block))
    return violate('the cursor is a block that was final', `block ${cursor.block} ${cursor.hash}`);
  const onRecord = new Set(deposits.filter(isFinal).map(({ key }) => key));
  const reported = new Set(unread);
  for (const { key, blockNumber, account } of truth.upTo(block))
    if (!onRecord.has(key) && !reported.has(`ethereum block ${blockNumber} ${account}`))
      violate('a final transfer up to the cursor is on record or reported', `${key} of block ${blockNumber}`);
  for (const subject of unread)
    if (!refusedAlone.has(subject.replace('ethereum block ', '')))
      violate('only what no node gives is reported as unread', subject);
};

/** What is on record was transferred in a block that was final, once, and credited once. */
const checkAmounts: Rule = ({ violate }, { truth, uuids }, { deposits, credits }) => {
  const real = truth.everFinal();
  const final = deposits.filter(isFinal);
  for (const { key, units } of final)
    if (!real.get(key)?.some(version => version.units === units))
      violate('only what was transferred is on record', `${key} of ${units}`);
  if (new Set(final.map(({ key }) => key)).size < final.length)
    violate('each transfer is on record once', `${final.length}`);
  const keyOf = ({ uuid, reference }: { uuid: string; reference: string | null }) => `${uuid} ${reference}`;
  const sumsOf = (items: { uuid: string; reference: string | null; microUsdt: bigint }[]) =>
    JSON.stringify(
      [...sumBy(items, keyOf, ({ microUsdt }) => microUsdt)].map(([key, sum]) => `${key} ${sum}`).sort(),
    );
  const credited = final.filter(({ state }) => state === 'credited');
  if (sumsOf(credited) !== sumsOf(credits))
    violate('credits equal the credited deposits', `${sumsOf(credits)} instead of ${sumsOf(credited)}`);
  for (const uuid of uuids) {
    const sum = credits
      .filter(entry => entry.uuid === uuid)
      .reduce((total, entry) => total + entry.microUsdt, 0n);
    if (sum > truth.mostOf(uuid))
      violate('no partner is credited more than was transferred', `${sum} instead of ${truth.mostOf(uuid)}`);
  }
};

const checkStates: Rule = ({ violate }, { rules }, { deposits }, before) => {
  for (const deposit of deposits.filter(isFinal)) {
    const { key, transaction, state, heldFor, microUsdt } = deposit;
    const isNew = !before.final.has(key);
    const isLate = isNew && before.finalTransactions.has(transaction);
    if (isLate && state !== 'held')
      violate('what comes after its transaction was booked is held', `${key} ${state}`);
    if (isNew && heldFor === 'late' && !isLate)
      violate('what comes with its transaction is not held as late', key);
    if ((heldFor === 'amount') !== microUsdt > maxMicroUsdt)
      violate('what is more than a billion is held', `${key} ${state} ${heldFor}`);
    if (!isPermitted(rules, deposit))
      violate('only what is allowed or released is credited', `${key} ${state}`);
  }
};

function isPermitted({ isScreened, isAllowed, isDecided }: StateRules, deposit: BookedDeposit): boolean {
  const { key, state, heldFor } = deposit;
  switch (state) {
    case 'rejected':
      return isDecided(key, 'rejected');
    case 'held':
      return (
        heldFor === 'late' ||
        heldFor === 'unread' ||
        heldFor === 'amount' ||
        (isScreened && heldFor !== 'reference')
      );
    case 'screening':
      return isScreened;
    case 'accumulating':
      return isAllowed(deposit);
    case 'credited':
      return heldFor === null ? isAllowed(deposit) : isDecided(key, 'credited');
    default:
      return true;
  }
}

const checkEnded: Rule = ({ violate }, _parts, { deposits }, before) => {
  const now = new Map(deposits.map(({ key, state, reference }) => [key, `${state} ${reference}`]));
  for (const [key, end] of before.ended)
    if (now.get(key) !== end)
      violate('a deposit that is credited or rejected stays so', `${end}, then ${now.get(key)}`);
};

/** After every commit. */
export const checkDeposits: Rule = (...args) => {
  for (const check of [checkCursor, checkAmounts, checkStates, checkEnded]) check(...args);
};
