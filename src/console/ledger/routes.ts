import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { formatMicroUsdt } from '../../base/money.ts';
import {
  accountNames,
  listAccounts,
  listEntries,
  readTrialBalance,
  verifyShared,
} from '../../ledger/index.ts';
import { Day, Mode, pageOf, paging, readNumber, StatementFormat, statementOf } from '../../web/index.ts';
import { noPartner, partnerOf } from '../partners/rows.ts';
import { auditContextOf, get, post } from '../route.ts';

const maxEntryNo = 2n ** 62n;

const showAccounts = get('/ledger/accounts', 'see', { query: paging }, async (request, { db }) => {
  const { limit, after = '' } = request.query;
  const [id = '', mode] = after.split('.');
  const partnerId = parseId('prt', id);
  const place = partnerId && { partnerId, mode: mode === 'live' ? ('live' as const) : ('test' as const) };
  const accounts = await listAccounts(db, { after: place, limit: limit + 1 });
  return pageOf(accounts, limit, last => `${last.partnerId}.${last.mode}`, accountRow);
});

const showEntries = get(
  '/ledger/entries',
  'see',
  { query: { partner_id: Type.String(), mode: Mode, ...paging } },
  async (request, { db }) => {
    const { partner_id, mode, limit, after = '' } = request.query;
    const partnerId = parseId('prt', partner_id);
    if (!partnerId) return noPartner;
    const before = readNumber(after);
    const upTo = before === undefined ? maxEntryNo : before - 1n;
    const wanted = { upTo, limit: limit + 1, newestFirst: true };
    const entries = await listEntries(db, { partnerId, mode }, wanted);
    return pageOf(entries, limit, last => `${last.entryNo}`, entryRow);
  },
);

/** Sums over all partners; each column adds up to zero. */
export const showTrialBalance = get('/ledger/trial-balance', 'see', {}, async (_request, { db }) => {
  const { live, test } = await readTrialBalance(db);
  const sum = (balances: typeof live) => accountNames.reduce((total, name) => total + balances[name], 0n);
  return {
    rows: accountNames.map(account => ({
      account,
      live_usdt: formatMicroUsdt(live[account]),
      test_usdt: formatMicroUsdt(test[account]),
    })),
    total: { live_usdt: formatMicroUsdt(sum(live)), test_usdt: formatMicroUsdt(sum(test)) },
  };
});

export const verify = post('/ledger/verify', 'ledger.verify', {}, async (request, deps) => {
  const { findings, entries, invariants, durationMs } = await verifyShared(auditContextOf(deps, request));
  return {
    ok: findings.length === 0,
    entries: Number(entries),
    duration_ms: durationMs,
    invariants,
    findings: findings.map(({ partnerId, ...finding }) => ({ ...finding, partner_id: partnerId })),
  };
});

const downloadStatement = get(
  '/partners/:id/statement',
  'see',
  { find: partnerOf, query: { mode: Mode, day: Day, format: StatementFormat } },
  ({ query }, deps, { partnerId }) => statementOf(deps, { partnerId, mode: query.mode }, query),
);

type Account = Awaited<ReturnType<typeof listAccounts>>[number];
type Entry = Awaited<ReturnType<typeof listEntries>>[number];

export const accountRow = ({ partnerId, partner, mode, balances, entries }: Account) => ({
  partner_id: partnerId,
  partner,
  mode,
  topup_usdt: formatMicroUsdt(balances.topup),
  treasury_usdt: formatMicroUsdt(balances.treasury),
  available_usdt: formatMicroUsdt(balances.available),
  held_usdt: formatMicroUsdt(balances.held),
  settled_usdt: formatMicroUsdt(balances.settled),
  entries: Number(entries),
});

export function entryRow(entry: Entry) {
  const { from, to, fromAfter, toAfter } = entry;
  const available = from === 'available' ? fromAfter : to === 'available' ? toAfter : null;
  return {
    entry_no: `${entry.entryNo}`,
    at: entry.at.toISOString(),
    kind: entry.kind,
    from,
    to,
    amount_usdt: formatMicroUsdt(entry.microUsdt),
    available_after_usdt: available === null ? null : formatMicroUsdt(available),
    payment_id: entry.paymentId,
    reference: entry.reference,
  };
}

/** The ledger: accounts, entries, trial balance, verification, and a partner's statement of a day. */
export const ledgerRoutes = [showAccounts, showEntries, showTrialBalance, verify, downloadStatement];
