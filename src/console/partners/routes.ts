import Type from 'typebox';
import { listRequests, submitCredit } from '../../approvals/index.ts';
import { type Id, parseId } from '../../base/ids.ts';
import { isLabel } from '../../base/label.ts';
import { parseMicroUsdt } from '../../base/money.ts';
import type { AuditContext } from '../../db/audit/index.ts';
import { readBalances } from '../../ledger/index.ts';
import {
  approveLive,
  createPartner,
  keyObject,
  limitsObject,
  listKeys,
  listMembers,
  readContacts,
  refuseLive,
  searchPartners,
  setLimits,
  setSuspended,
} from '../../partners/index.ts';
import { done, endpointRow, Mode, pageOf, paging, Rubles, refuse, Text, Usdt } from '../../web/index.ts';
import { eventKinds, listEndpoints, listWebhooks } from '../../webhooks/index.ts';
import { balanceOf } from '../approval-balances.ts';
import { answer, requestRow } from '../approval-replies.ts';
import { readLockedQuotes } from '../locked-quotes.ts';
import { auditContextOf, get, post } from '../route.ts';
import { moneyRow, noPartner, partnerIdOf, partnerOf, partnerRow, partnerRows, readLimits } from './rows.ts';

const Count = Type.Integer({ minimum: 1, maximum: 999_999_999 });
const Limits = Type.Object(
  {
    min_rub: Rubles,
    max_rub: Rubles,
    daily_rub: Type.Union([Rubles, Type.Null()]),
    concurrent: Count,
    create_rps: Count,
    create_burst: Count,
    other_rps: Count,
  },
  { additionalProperties: false },
);

const listPartners = get(
  '/partners',
  'see',
  { query: { q: Type.String({ maxLength: 200, default: '' }), ...paging } },
  async (request, deps) => {
    const { db } = deps;
    const { q, limit, after = '' } = request.query;
    const found = await searchPartners(db, {
      text: q.trim(),
      after: parseId('prt', after),
      limit: limit + 1,
    });
    const rows = await partnerRows(db, deps.clock, found);
    return pageOf(
      rows,
      limit,
      last => last.partner_id,
      row => row,
    );
  },
);

const addPartner = post('/partners', 'partners.create', { body: { name: Text } }, async (request, deps) => {
  const { db } = deps;
  const name = request.body.name.trim();
  if (!isLabel(name)) return refuse(400, 'invalid_request', 'A name is one line of up to 128 characters.');
  const { partnerId } = await createPartner(auditContextOf(deps, request), name);
  return partnerRow(db, deps.clock, partnerId);
});

export const showPartner = get(
  '/partners/:id',
  'see',
  { find: partnerOf },
  async (request, deps, partner) => {
    const { db } = deps;
    const [row, balances, quotes, keys, webhooks, states, members, requests, contacts] = await Promise.all([
      partnerRow(db, deps.clock, partner.partnerId),
      readBalances(db, partner.partnerId),
      readLockedQuotes(deps, partner.partnerId),
      listKeys(db, partner.partnerId),
      listWebhooks(db, partner.partnerId),
      listEndpoints(db, deps.clock, [partner.partnerId]),
      listMembers(db, partner.partnerId),
      listRequests(db, { state: 'waiting', subjects: [partner.partnerId] }),
      readContacts(db, partner.partnerId),
    ]);
    return {
      partner: row,
      contacts,
      limits: limitsObject(partner.limits),
      balances: { live: moneyRow(balances.live), test: moneyRow(balances.test) },
      quotes,
      keys: keys.map(key => keyObject(key, deps.clock)),
      // The first one, then those of live and of test mode.
      endpoints: webhooks.map(one => endpointRow(one, states)),
      event_kinds: [...eventKinds],
      members: members.map(({ name, role, joinedAt }) => ({ name, role, joined_at: joinedAt.toISOString() })),
      requests: await Promise.all(
        requests.map(async one => requestRow(one, request.operator, await balanceOf(db, one))),
      ),
    };
  },
);

const changeState = (
  word: string,
  needs: 'partners.approve' | 'partners.suspend',
  act: (audit: AuditContext, partnerId: Id<'prt'>) => Promise<{ outcome: string }>,
) =>
  post(`/partners/:id/${word}`, needs, { find: partnerIdOf }, async (request, deps, partnerId) => {
    const { outcome } = await act(auditContextOf(deps, request), partnerId);
    if (outcome === 'no_partner') return noPartner;
    return outcome === 'already_approved' ? refuse(409, outcome, 'Live mode is already approved.') : done;
  });

const suspend = post(
  '/partners/:id/suspend',
  'partners.suspend',
  { body: { reason: Text } },
  async (request, deps) => {
    const partnerId = parseId('prt', request.params.id);
    const reason = request.body.reason.trim();
    if (!isLabel(reason)) return refuse(422, 'invalid_request', 'Enter a reason of 1 to 128 characters.');
    const result = partnerId && (await setSuspended(auditContextOf(deps, request), partnerId, true, reason));
    return !result || result.outcome === 'no_partner' ? noPartner : done;
  },
);

const changeLimits = post(
  '/partners/:id/limits',
  'partners.limits',
  { body: { limits: Limits, expected: Limits } },
  async (request, deps) => {
    const partnerId = parseId('prt', request.params.id);
    const { limits, expected } = request.body;
    const wanted = readLimits(limits);
    if (wanted.minKopecks === 0n)
      return refuse(400, 'invalid_request', 'The minimum amount must be above zero.');
    if (!partnerId) return noPartner;
    const { outcome } = await setLimits(
      auditContextOf(deps, request),
      partnerId,
      wanted,
      readLimits(expected),
    );
    switch (outcome) {
      case 'done':
        return done;
      case 'no_partner':
        return noPartner;
      case 'stale': {
        const message = 'The limits have changed since this page was loaded: reload it and try again.';
        return refuse(409, outcome, message);
      }
      case 'min_above_max':
        return refuse(400, outcome, 'The minimum amount is above the maximum amount.');
    }
  },
);

const creditBalance = post(
  '/partners/:id/credit',
  'balances.credit',
  { find: partnerIdOf, body: { mode: Mode, usdt: Usdt, reference: Text } },
  async (request, deps, partnerId) => {
    const { mode, usdt } = request.body;
    const microUsdt = parseMicroUsdt(usdt)!;
    const reference = request.body.reference.trim();
    if (microUsdt === 0n) return refuse(400, 'invalid_request', 'The amount must be above zero.');
    if (!isLabel(reference))
      return refuse(400, 'invalid_request', 'A reference is one line of up to 128 characters.');
    const credit = { partnerId, mode, microUsdt, reference };
    return answer(request, await submitCredit(auditContextOf(deps, request), request.operator, credit));
  },
);

/** Partners: their state, limits and balances. */
export const partnerRoutes = [
  listPartners,
  addPartner,
  showPartner,
  changeState('approve', 'partners.approve', approveLive),
  changeState('refuse', 'partners.approve', refuseLive),
  changeState('resume', 'partners.suspend', (audit, partnerId) => setSuspended(audit, partnerId, false)),
  suspend,
  changeLimits,
  creditBalance,
];
