import Type from 'typebox';
import { listRequests, type OperatorRequest, submitDepositDecision } from '../../approvals/index.ts';
import { addressUrl, networkOf, transactionUrl } from '../../base/deposit-settings.ts';
import { type Id, parseId } from '../../base/ids.ts';
import { isLabel } from '../../base/label.ts';
import { formatMicroUsdt } from '../../base/money.ts';
import { depositStates, listChainProgress, type SomeDeposit, searchDeposits } from '../../deposits/index.ts';
import type { SignedIn } from '../../operators/index.ts';
import { oneOf, paging, refuse, Text, unsearchable } from '../../web/index.ts';
import { answer, requestRow } from '../approval-replies.ts';
import { auditContextOf, get, post } from '../route.ts';

const Search = Type.Object({
  state: Type.Optional(oneOf(...depositStates)),
  partner_id: Type.Optional(Type.String({ maxLength: 100 })),
  q: Type.Optional(Type.String({ maxLength: 100 })),
  ...paging,
});
const findDeposits = get('/deposits', 'see', { query: Search }, async (request, deps) => {
  const { limit, state, partner_id, q, after: cursor } = request.query;
  const partnerId = partner_id ? parseId('prt', partner_id) : undefined;
  const after = cursor === undefined ? undefined : parseId('dep', cursor);
  if ((partner_id && !partnerId) || (cursor !== undefined && !after)) return unsearchable;
  const named = q ? readName(q) : {};
  if (!named) return { data: [], next_cursor: null };
  const search = { state, partnerId, ...named };
  const { deposits, hasMore } = await searchDeposits(deps.db, search, { limit, after });
  const subjects = deposits.map(({ depositId }) => depositId);
  const waiting = await listRequests(deps.db, { state: 'waiting', subjects });
  const requests = new Map(waiting.map(one => [one.subject, one]));
  return {
    data: deposits.map(deposit => depositRow(deposit, request.operator, requests.get(deposit.depositId))),
    next_cursor: hasMore ? deposits.at(-1)!.depositId : null,
  };
});

/** An id of a deposit, or the hash of a transaction with or without `0x`; nothing else names a deposit. */
function readName(text: string): { depositId: Id<'dep'> } | { transaction: string } | undefined {
  const depositId = parseId('dep', text);
  if (depositId) return { depositId };
  const [, hash] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text) ?? [];
  return hash ? { transaction: `0x${hash.toLowerCase()}` } : undefined;
}

export function depositRow(deposit: SomeDeposit, operator: SignedIn, waiting: OperatorRequest | undefined) {
  return {
    deposit_id: deposit.depositId,
    partner_id: deposit.partnerId,
    partner: deposit.partner,
    chain: deposit.chain,
    network: networkOf(deposit.chain),
    state: deposit.state,
    held_for: deposit.heldFor,
    amount_usdt: formatMicroUsdt(deposit.microUsdt),
    transaction_id: deposit.transaction,
    log_index: deposit.logIndex,
    sender: deposit.sender,
    transaction_url: transactionUrl(deposit.chain, deposit.transaction),
    sender_url: addressUrl(deposit.chain, deposit.sender),
    seen_at: deposit.seenAt.toISOString(),
    credited_at: deposit.creditedAt?.toISOString() ?? null,
    decision_reason: deposit.decisionReason,
    request: waiting ? requestRow(waiting, operator) : null,
  };
}

export const showChains = get('/deposits/chains', 'see', {}, async (_request, deps) => {
  const booked = await listChainProgress(deps.db);
  const data = deps.depositChains.map(({ name, network, rpcUrls }) => {
    // None until the first round of the chain.
    const found = booked.find(({ chain }) => chain === name);
    const lagMs = found && deps.clock.nowMs() - found.cursorTime.getTime();
    return {
      chain: name,
      network,
      nodes: rpcUrls.length,
      lag_sec: lagMs === undefined ? null : Math.max(0, Math.floor(lagMs / 1000)),
      blocks_behind: found ? Number(found.finalBlock - found.cursorBlock) : null,
      checked_at: found?.checkedAt.toISOString() ?? null,
    };
  });
  return { data, is_screened: deps.depositScreenUrl !== undefined };
});

const noDeposit = { outcome: 'no_deposit' } as const;

const decisions = { release: 'credited', reject: 'rejected' } as const;
const body = { reason: Text };
const decideHeld = Object.entries(decisions).map(([name, outcome]) =>
  post(`/deposits/:id/${name}`, 'balances.credit', { body }, async (request, deps) => {
    const { reason } = request.body;
    if (!isLabel(reason))
      return refuse(400, 'invalid_request', 'A reason is one line of up to 128 characters.');
    const id = parseId('dep', request.params.id);
    const audit = auditContextOf(deps, request);
    const decision = { outcome, reason };
    const result = id ? await submitDepositDecision(audit, request.operator, id, decision) : noDeposit;
    return answer(request, result);
  }),
);

/** USDT deposits of all partners, how far their chains are booked, and decisions on those that are held. */
export const depositRoutes = [findDeposits, showChains, ...decideHeld];
