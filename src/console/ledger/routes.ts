import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { parseDay } from '../../base/instants.ts';
import { formatMicroUsdt } from '../../base/money.ts';
import {
  accountNames,
  listAccounts,
  listEntries,
  openStatement,
  readTrialBalance,
  verifyShared,
  writeStatement,
} from '../../ledger/index.ts';
import { findPartner } from '../../partners/index.ts';
import {
  ById,
  Day,
  fileOf,
  Mode,
  pageOf,
  paging,
  type Routes,
  readNumber,
  refuse,
  typed,
} from '../../web/index.ts';
import { auditContextOf } from '../audit-context.ts';
import type { ConsoleDeps } from '../deps.ts';
import type { AccountRow, EntryRow, TrialBalance, Verification } from '../shapes/ledger.ts';

const see = { needs: 'see' } as const;
const maxEntryNo = 2n ** 62n;

/** The ledger: accounts, entries, trial balance, verification, and a partner's statement of a day. */
export function ledgerRoutes(scope: FastifyInstance, deps: ConsoleDeps): void {
  const routes = typed(scope);
  showAccounts(routes, deps);
  showEntries(routes, deps);
  showTrialBalance(routes, deps);
  verify(routes, deps);
  downloadStatement(routes, deps);
}

function showAccounts(routes: Routes, deps: ConsoleDeps): void {
  const { db } = deps;
  routes.get(
    '/ledger/accounts',
    { config: see, schema: { querystring: Type.Object(paging) } },
    async request => {
      const { limit, after = '' } = request.query;
      const [id = '', mode] = after.split('.');
      const partnerId = parseId('prt', id);
      const place = partnerId && { partnerId, mode: mode === 'live' ? ('live' as const) : ('test' as const) };
      const accounts = await listAccounts(db, { after: place, limit: limit + 1 });
      return pageOf(accounts, limit, last => `${last.partnerId}.${last.mode}`, accountRow);
    },
  );
}

function showEntries(routes: Routes, deps: ConsoleDeps): void {
  const { db } = deps;
  routes.get(
    '/ledger/entries',
    {
      config: see,
      schema: { querystring: Type.Object({ partner_id: Type.String(), mode: Mode, ...paging }) },
    },
    async (request, reply) => {
      const { partner_id, mode, limit, after = '' } = request.query;
      const partnerId = parseId('prt', partner_id);
      if (!partnerId) return refuse(request, reply, 404, 'not_found', 'Partner not found.');
      const before = readNumber(after);
      const upTo = before === undefined ? maxEntryNo : before - 1n;
      const wanted = { upTo, limit: limit + 1, newestFirst: true };
      const entries = await listEntries(db, { partnerId, mode }, wanted);
      return pageOf(entries, limit, last => `${last.entryNo}`, entryRow);
    },
  );
}

function showTrialBalance(routes: Routes, deps: ConsoleDeps): void {
  const { db } = deps;
  routes.get('/ledger/trial-balance', { config: see }, async (): Promise<TrialBalance> => {
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
}

function verify(routes: Routes, deps: ConsoleDeps): void {
  routes.post(
    '/ledger/verify',
    { config: { needs: 'ledger.verify' } },
    async (request): Promise<Verification> => {
      const { findings, entries, invariants, durationMs } = await verifyShared(auditContextOf(deps, request));
      return {
        ok: findings.length === 0,
        entries: Number(entries),
        duration_ms: durationMs,
        invariants,
        findings: findings.map(({ partnerId, ...finding }) => ({ ...finding, partner_id: partnerId })),
      };
    },
  );
}

function downloadStatement(routes: Routes, deps: ConsoleDeps): void {
  const { db } = deps;
  routes.get(
    '/partners/:id/statement',
    {
      config: see,
      schema: {
        params: ById,
        querystring: Type.Object({
          mode: Mode,
          day: Day,
          format: Type.Union([Type.Literal('csv'), Type.Literal('json')]),
        }),
      },
    },
    async (request, reply) => {
      const { mode, format } = request.query;
      const partnerId = parseId('prt', request.params.id);
      const day = parseDay(request.query.day);
      if (!partnerId || !(await findPartner(db, partnerId)))
        return refuse(request, reply, 404, 'not_found', 'Partner not found.');
      const statement = day && (await openStatement(db, deps.clock, { partnerId, mode }, day));
      if (!statement)
        return refuse(request, reply, 400, 'invalid_request', 'This day does not exist or has not started.');
      if (statement === 'pruned')
        return refuse(request, reply, 404, 'not_found', 'The test data of this day was deleted.');
      const name = `statement-${partnerId}-${mode}-${statement.day}.${format}`;
      return reply
        .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8')
        .header('Content-Disposition', `attachment; filename="${name}"`)
        .send(fileOf(deps, request, writeStatement(db, statement, format)));
    },
  );
}

type Account = Awaited<ReturnType<typeof listAccounts>>[number];
type Entry = Awaited<ReturnType<typeof listEntries>>[number];

const accountRow = ({ partnerId, partner, mode, balances, entries }: Account): AccountRow => ({
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

function entryRow(entry: Entry): EntryRow {
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
