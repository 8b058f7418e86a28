import Type from 'typebox';
import { renderSVG } from 'uqr';
import { addressUrl, networkOf, transactionUrl } from '../../base/deposit-settings.ts';
import { parseId } from '../../base/ids.ts';
import { formatMicroUsdt, parseMicroUsdt } from '../../base/money.ts';
import { readBalanceMark, setBalanceMark } from '../../bot/index.ts';
import { type Deposit, listDeposits, openAddresses } from '../../deposits/index.ts';
import { listCredits, readBalances } from '../../ledger/index.ts';
import { limitsObject, refillTestBalance } from '../../partners/index.ts';
import {
  Day,
  done,
  Mode,
  paging,
  refuse,
  StatementFormat,
  statementOf,
  Usdt,
  unsearchable,
} from '../../web/index.ts';
import { auditContextOf, get, post } from '../route.ts';

const creditsShown = 50;

export const showBalance = get('/balance', 'money', {}, async (request, deps) => {
  const { partnerId, limits, liveApproved } = request.member.partner;
  const db = deps.readsOf(partnerId);
  const balances = await readBalances(db, partnerId);
  const alert = await readBalanceMark(db, partnerId);
  // Real money: nobody needs an address before live mode is approved.
  const addresses = liveApproved ? await openAddresses(db, deps.clock, deps.chains, partnerId) : null;
  const credits = await listCredits(db, partnerId, creditsShown);
  const money = (mode: 'live' | 'test') => ({
    available_usdt: formatMicroUsdt(balances[mode].availableMicroUsdt),
    held_usdt: formatMicroUsdt(balances[mode].heldMicroUsdt),
  });
  return {
    live: money('live'),
    test: money('test'),
    limits: limitsObject(limits),
    // The bot notifies the team below it; null: never.
    alert_usdt: alert === undefined ? null : formatMicroUsdt(alert),
    // Where to send USDT; empty: there is no address; null: live mode is not approved.
    addresses:
      addresses?.map(({ chain, address }) => ({
        chain: chain.name,
        network: chain.network,
        address,
        address_url: addressUrl(chain.name, address),
        qr_svg: renderSVG(address),
        min_usdt: formatMicroUsdt(chain.minMicroUsdt),
        usual_minutes: chain.usualMinutes,
      })) ?? null,
    credits: credits.map(({ mode, microUsdt, reference, at }) => ({
      mode,
      amount_usdt: formatMicroUsdt(microUsdt),
      reference,
      at: at.toISOString(),
    })),
  };
});

const findDeposits = get('/deposits', 'money', { query: paging }, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const { limit, after } = request.query;
  const startingAfter = after === undefined ? undefined : parseId('dep', after);
  const isReadable = after === undefined || startingAfter !== undefined;
  const page =
    isReadable && (await listDeposits(deps.readsOf(partnerId), partnerId, { limit, startingAfter }));
  if (!page) return unsearchable;
  const { deposits, hasMore } = page;
  return { data: deposits.map(depositRow), next_cursor: hasMore ? deposits.at(-1)!.depositId : null };
});

export const depositRow = (deposit: Deposit) => ({
  deposit_id: deposit.depositId,
  network: networkOf(deposit.chain),
  state: deposit.state,
  amount_usdt: formatMicroUsdt(deposit.microUsdt),
  transaction_id: deposit.transaction,
  transaction_url: transactionUrl(deposit.chain, deposit.transaction),
  seen_at: deposit.seenAt.toISOString(),
  credited_at: deposit.creditedAt?.toISOString() ?? null,
});

const refill = post('/balance/refill', 'integrate', {}, async (request, deps) => {
  const audit = auditContextOf(deps, request);
  const outcome = await refillTestBalance(audit, request.member.partner.partnerId);
  if (outcome === 'refilled') return done;
  return refuse(409, outcome, 'The test balance was already refilled today.');
});

const alert_usdt = Type.Union([Usdt, Type.Null()]);
const setAlert = post('/balance/alert', 'own', { body: { alert_usdt } }, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const audit = auditContextOf(deps, request);
  const wanted = request.body.alert_usdt;
  const mark = wanted === null ? null : parseMicroUsdt(wanted);
  if (mark === undefined || mark === 0n) return refuse(400, 'invalid_request', 'Enter an amount above zero.');
  await setBalanceMark(audit, partnerId, mark);
  return done;
});

/** The statement of a day, with the same bytes as from the API. */
const downloadStatement = get(
  '/statement',
  'money',
  { query: { mode: Mode, day: Day, format: StatementFormat } },
  ({ member, query }, deps) => {
    const { partnerId } = member.partner;
    const reading = { db: deps.readsOf(partnerId), clock: deps.clock };
    return statementOf(reading, { partnerId, mode: query.mode }, query);
  },
);

/** Balances, limits, how to top up, and what has arrived, and what has moved on a day. */
export const moneyRoutes = [showBalance, findDeposits, refill, setAlert, downloadStatement];
