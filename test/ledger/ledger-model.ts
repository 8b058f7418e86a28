/** One account of the plain model that the ledger must agree with. */
interface ModelAccount {
  available: bigint;
  holds: Map<number, bigint>;
  ends: Map<number, string>;
  refs: Map<number, bigint>;
}

/** Items of one payment are taken together, where the first of them stands: that is the promised order. */
export function expectedOutcomes(
  model: ModelAccount[],
  kind: 'hold' | 'settle' | 'release' | 'credit',
  items: { partner: number; payment: number; amount: bigint }[],
): string[] {
  const outcomes: string[] = [];
  const sameItem = (left: (typeof items)[number], right: (typeof items)[number]) =>
    left.partner === right.partner && left.payment === right.payment;
  const order = items
    .map((item, index) => ({ item, index, first: items.findIndex(other => sameItem(other, item)) }))
    .sort((left, right) => left.first - right.first || left.index - right.index);
  for (const { item, index } of order) outcomes[index] = outcomeOf(model[item.partner]!, kind, item);
  return outcomes;
}

function outcomeOf(account: ModelAccount, kind: string, item: { payment: number; amount: bigint }): string {
  const { holds, ends, refs } = account;
  const held = holds.get(item.payment);
  if (kind === 'credit') {
    const known = refs.get(item.payment);
    if (known !== undefined) return known === item.amount ? 'already_credited' : 'conflict';
    refs.set(item.payment, item.amount);
    account.available += item.amount;
    return 'credited';
  }
  if (kind === 'hold') {
    if (ends.has(item.payment)) return 'already_ended';
    if (held !== undefined) return held === item.amount ? 'already_held' : 'conflict';
    if (account.available < item.amount) return 'insufficient';
    holds.set(item.payment, item.amount);
    account.available -= item.amount;
    return 'held';
  }
  if (held === undefined) return 'not_held';
  const ended = ends.get(item.payment);
  if (ended) return `already_${ended}`;
  const end = kind === 'settle' ? 'settled' : 'released';
  ends.set(item.payment, end);
  if (end === 'released') account.available += held;
  return end;
}
