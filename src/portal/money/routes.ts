import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { renderSVG } from 'uqr';
import { parseId } from '../../base/ids.ts';
import { formatMicroUsdt, parseMicroUsdt } from '../../base/money.ts';
import { readBalanceMark, setBalanceMark } from '../../bot/index.ts';
import { type Deposit, listDeposits, openAddresses } from '../../deposits/index.ts';
import { listCredits, readBalances } from '../../ledger/index.ts';
import { limitsObject, refillTestBalance } from '../../partners/index.ts';
import {
  Body,
  done,
  type Page,
  paging,
  type Routes,
  refuse,
  typed,
  Usdt,
  unsearchable,
} from '../../web/index.ts';
import { auditContextOf } from '../audit-context.ts';
import type { RouteDeps } from '../deps.ts';
import type { Balance, DepositRow } from '../shapes/money.ts';

const below = '/partners/:partner_id';
const creditsShown = 50;

/** Balances, limits, how to top up, and what has arrived. */
export function moneyRoutes(scope: FastifyInstance, deps: RouteDeps): void {
  const routes = typed(scope);
  showBalance(routes, deps);
  findDeposits(routes, deps);
  refill(routes, deps);
  setAlert(routes, deps);
}

function showBalance(routes: Routes, deps: RouteDeps): void {
  routes.get(`${below}/balance`, { config: { allows: 'viewer' } }, async (request): Promise<Balance> => {
    const { partnerId, limits } = request.member.partner;
    const db = deps.readsOf(partnerId);
    const balances = await readBalances(db, partnerId);
    const alert = await readBalanceMark(db, partnerId);
    const addresses = await openAddresses(db, deps.clock, deps.chains, partnerId);
    const credits = await listCredits(db, partnerId, creditsShown);
    const money = (mode: 'live' | 'test') => ({
      available_usdt: formatMicroUsdt(balances[mode].availableMicroUsdt),
      held_usdt: formatMicroUsdt(balances[mode].heldMicroUsdt),
    });
    return {
      live: money('live'),
      test: money('test'),
      limits: limitsObject(limits),
      alert_usdt: alert === undefined ? null : formatMicroUsdt(alert),
      addresses: addresses.map(({ chain, address }) => ({
        chain: chain.name,
        title: chain.title,
        address,
        qr_svg: renderSVG(address),
        min_usdt: formatMicroUsdt(chain.minMicroUsdt),
        usual_minutes: chain.usualMinutes,
      })),
      credits: credits.map(({ mode, microUsdt, reference, at }) => ({
        mode,
        amount_usdt: formatMicroUsdt(microUsdt),
        reference,
        at: at.toISOString(),
      })),
    };
  });
}

function findDeposits(routes: Routes, deps: RouteDeps): void {
  routes.get(
    `${below}/deposits`,
    { config: { allows: 'viewer' }, schema: { querystring: Type.Object(paging) } },
    async (request, reply): Promise<Page<DepositRow> | typeof reply> => {
      const { partnerId } = request.member.partner;
      const { limit, after } = request.query;
      const startingAfter = after === undefined ? undefined : parseId('dep', after);
      const isReadable = after === undefined || startingAfter !== undefined;
      const page =
        isReadable && (await listDeposits(deps.readsOf(partnerId), partnerId, { limit, startingAfter }));
      if (!page) return refuse(request, reply, 422, 'invalid_request', unsearchable);
      const { deposits, hasMore } = page;
      return { data: deposits.map(depositRow), next_cursor: hasMore ? deposits.at(-1)!.depositId : null };
    },
  );
}

const depositRow = (deposit: Deposit): DepositRow => ({
  deposit_id: deposit.depositId,
  chain: deposit.chain,
  state: deposit.state,
  amount_usdt: formatMicroUsdt(deposit.microUsdt),
  transaction_id: deposit.transaction,
  seen_at: deposit.seenAt.toISOString(),
  credited_at: deposit.creditedAt?.toISOString() ?? null,
});

function refill(routes: Routes, deps: RouteDeps): void {
  routes.post(`${below}/balance/refill`, { config: { allows: 'developer' } }, async (request, reply) => {
    const audit = auditContextOf(deps, request);
    const outcome = await refillTestBalance(audit, request.member.partner.partnerId);
    if (outcome === 'refilled') return done;
    return refuse(request, reply, 409, outcome, 'The test balance was already refilled today.');
  });
}

function setAlert(routes: Routes, deps: RouteDeps): void {
  const alert_usdt = Type.Union([Usdt, Type.Null()]);
  routes.post(
    `${below}/balance/alert`,
    { config: { allows: 'owner' }, schema: { body: Body({ alert_usdt }) } },
    async (request, reply) => {
      const { partnerId } = request.member.partner;
      const audit = auditContextOf(deps, request);
      const wanted = request.body.alert_usdt;
      const mark = wanted === null ? null : parseMicroUsdt(wanted);
      if (mark === undefined || mark === 0n)
        return refuse(request, reply, 400, 'invalid_request', 'Enter an amount above zero.');
      await setBalanceMark(audit, partnerId, mark);
      return done;
    },
  );
}
