import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import type { Id } from '../../base/ids.ts';
import { formatMicroUsdt, parseKopecks } from '../../base/money.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import { type Balances, readBalances } from '../../ledger/index.ts';
import {
  findPartner,
  type Limits,
  type limitsObject,
  type Partner,
  searchPartners,
} from '../../partners/index.ts';
import { type Answer, idOr, Refused, refuse } from '../../web/index.ts';
import { listEndpoints, worstState } from '../../webhooks/index.ts';
import type { ConsoleDeps } from '../deps.ts';

export const noPartner = refuse(404, 'not_found', 'Partner not found.');

/** The partner in the path. */
export const partnerIdOf = idOr('prt', noPartner);

export async function partnerOf(request: FastifyRequest, { db }: ConsoleDeps): Answer<Partner> {
  const partnerId = partnerIdOf(request);
  return partnerId instanceof Refused ? partnerId : ((await findPartner(db, partnerId)) ?? noPartner);
}

type Found = Awaited<ReturnType<typeof searchPartners>>;

export async function partnerRows(db: Queryable, clock: Clock, found: Found) {
  const ids = found.map(({ partner }) => partner.partnerId);
  const [endpoints, balances] = await Promise.all([
    listEndpoints(db, clock, ids),
    Promise.all(ids.map(id => readBalances(db, id))),
  ]);
  return found.map(({ partner, approval }, index) => ({
    partner_id: partner.partnerId,
    name: partner.name,
    state: partner.suspended ? 'suspended' : 'active',
    live: approval,
    created_at: partner.createdAt.toISOString(),
    live_balance: moneyRow(balances[index]!.live),
    webhook_state: worstState(endpoints.filter(one => one.partnerId === partner.partnerId)) ?? 'none',
  }));
}

/** The partner must exist. */
export async function partnerRow(db: Queryable, clock: Clock, partnerId: Id<'prt'>) {
  const found = await searchPartners(db, { text: partnerId, after: undefined, limit: 1 });
  return (await partnerRows(db, clock, found))[0]!;
}

export const moneyRow = (balances: Balances) => ({
  available_usdt: formatMicroUsdt(balances.availableMicroUsdt),
  held_usdt: formatMicroUsdt(balances.heldMicroUsdt),
  settled_usdt: formatMicroUsdt(balances.settledMicroUsdt),
});

/** The schema has checked that every amount can be parsed. */
export const readLimits = (sent: ReturnType<typeof limitsObject>): Limits => ({
  minKopecks: parseKopecks(sent.min_rub)!,
  maxKopecks: parseKopecks(sent.max_rub)!,
  dailyKopecks: sent.daily_rub === null ? null : parseKopecks(sent.daily_rub)!,
  concurrent: sent.concurrent,
  createRps: sent.create_rps,
  createBurst: sent.create_burst,
  otherRps: sent.other_rps,
});
