import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { listRequests, type OperatorRequest, submitDepositDecision } from '../../approvals/index.ts';
import type { DepositChainSettings } from '../../base/deposit-settings.ts';
import { type Id, parseId } from '../../base/ids.ts';
import { isLabel } from '../../base/label.ts';
import { formatMicroUsdt } from '../../base/money.ts';
import { depositStates, listChainProgress, type SomeDeposit, searchDeposits } from '../../deposits/index.ts';
import type { SignedIn } from '../../operators/index.ts';
import { Body, ById, paging, type Routes, refuse, Text, typed, unsearchable } from '../../web/index.ts';
import { answer, requestRow } from '../approval-replies.ts';
import { auditContextOf } from '../audit-context.ts';
import type { ConsoleDeps } from '../deps.ts';
import type { Page } from '../shapes/common.ts';
import type { DepositChainList, DepositRow } from '../shapes/deposits.ts';

/** USDT deposits of all partners, how far their chains are booked, and decisions on those that are held. */
export function depositRoutes(scope: FastifyInstance, deps: ConsoleDeps): void {
  const routes = typed(scope);
  findDeposits(routes, deps);
  showChains(routes, deps);
  decideHeld(routes, deps);
}

function findDeposits(routes: Routes, deps: ConsoleDeps): void {
  const Search = Type.Object({
    state: Type.Optional(Type.Union(depositStates.map(state => Type.Literal(state)))),
    partner_id: Type.Optional(Type.String({ maxLength: 100 })),
    q: Type.Optional(Type.String({ maxLength: 100 })),
    ...paging,
  });
  routes.get(
    '/deposits',
    { config: { needs: 'see' }, schema: { querystring: Search } },
    async (request, reply): Promise<Page<DepositRow> | typeof reply> => {
      const { limit, state, partner_id, q, after: cursor } = request.query;
      const partnerId = partner_id ? parseId('prt', partner_id) : undefined;
      const after = cursor === undefined ? undefined : parseId('dep', cursor);
      if ((partner_id && !partnerId) || (cursor !== undefined && !after))
        return refuse(request, reply, 422, 'invalid_request', unsearchable);
      const named = q ? readName(q) : {};
      if (!named) return { data: [], next_cursor: null };
      const search = { state, partnerId, ...named };
      const { deposits, hasMore } = await searchDeposits(deps.db, search, { limit, after });
      const subjects = deposits.map(({ depositId }) => depositId);
      const waiting = await listRequests(deps.db, { state: 'waiting', subjects });
      const requests = new Map(waiting.map(one => [one.subject, one]));
      return {
        data: deposits.map(deposit =>
          depositRow(deps, deposit, request.operator, requests.get(deposit.depositId)),
        ),
        next_cursor: hasMore ? deposits.at(-1)!.depositId : null,
      };
    },
  );
}

/** An id of a deposit, or the hash of a transaction with or without `0x`; nothing else names a deposit. */
function readName(text: string): { depositId: Id<'dep'> } | { transaction: string } | undefined {
  const depositId = parseId('dep', text);
  if (depositId) return { depositId };
  const [, hash] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text) ?? [];
  return hash ? { transaction: `0x${hash.toLowerCase()}` } : undefined;
}

function depositRow(
  { depositChains }: ConsoleDeps,
  deposit: SomeDeposit,
  operator: SignedIn,
  waiting: OperatorRequest | undefined,
): DepositRow {
  const chain = depositChains.find(({ name }) => name === deposit.chain);
  return {
    deposit_id: deposit.depositId,
    partner_id: deposit.partnerId,
    partner: deposit.partner,
    chain: deposit.chain,
    chain_title: chain?.title ?? deposit.chain,
    state: deposit.state,
    held_for: deposit.heldFor,
    amount_usdt: formatMicroUsdt(deposit.microUsdt),
    transaction_id: deposit.transaction,
    log_index: deposit.logIndex,
    sender: deposit.sender,
    explorer_url: chain ? explorerUrl(chain, deposit.transaction) : null,
    seen_at: deposit.seenAt.toISOString(),
    credited_at: deposit.creditedAt?.toISOString() ?? null,
    decision_reason: deposit.decisionReason,
    request: waiting ? requestRow(waiting, operator) : null,
  };
}

/** The hash is what a node said. Explorers of TRON write it without `0x`. */
function explorerUrl({ explorer, form }: DepositChainSettings, transaction: string): string {
  const hash = form === 'base58' ? transaction.replace(/^0x/, '') : transaction;
  return explorer.replace('{transaction}', () => encodeURIComponent(hash));
}

function showChains(routes: Routes, deps: ConsoleDeps): void {
  const { db, clock, depositChains, depositScreenUrl } = deps;
  routes.get('/deposits/chains', { config: { needs: 'see' } }, async (): Promise<DepositChainList> => {
    const booked = await listChainProgress(db);
    const data = depositChains.map(({ name, title, rpcUrls }) => {
      const found = booked.find(({ chain }) => chain === name);
      const lagMs = found && clock.nowMs() - found.cursorTime.getTime();
      return {
        chain: name,
        title,
        nodes: rpcUrls.length,
        lag_sec: lagMs === undefined ? null : Math.max(0, Math.floor(lagMs / 1000)),
        blocks_behind: found ? Number(found.finalBlock - found.cursorBlock) : null,
        checked_at: found?.checkedAt.toISOString() ?? null,
      };
    });
    return { data, is_screened: depositScreenUrl !== undefined };
  });
}

const noDeposit = { outcome: 'no_deposit' } as const;

function decideHeld(routes: Routes, deps: ConsoleDeps): void {
  const decisions = { release: 'credited', reject: 'rejected' } as const;
  for (const [name, outcome] of Object.entries(decisions))
    routes.post(
      `/deposits/:id/${name}`,
      { config: { needs: 'balances.credit' }, schema: { params: ById, body: Body({ reason: Text }) } },
      async (request, reply) => {
        const { reason } = request.body;
        if (!isLabel(reason))
          return refuse(
            request,
            reply,
            400,
            'invalid_request',
            'A reason is one line of up to 128 characters.',
          );
        const id = parseId('dep', request.params.id);
        const audit = auditContextOf(deps, request);
        const decision = { outcome, reason };
        const result = id ? await submitDepositDecision(audit, request.operator, id, decision) : noDeposit;
        return answer(request, reply, result);
      },
    );
}
