import type { FastifyInstance } from 'fastify';
import { formatMicroUsdt } from '../../base/money.ts';
import { readBalances } from '../../ledger/index.ts';
import type { ApiDeps } from '../deps.ts';
import * as schemas from './schemas.ts';

const apiVersion = '2026-11-14';

/** The partner of a key, and its balance. */
export function accountRoutes(server: FastifyInstance, deps: ApiDeps): void {
  server.get('/v1/ping', { config: { scope: 'any' }, schema: schemas.pingOperation }, request => ({
    ok: true,
    partner_id: request.caller.partnerId,
    mode: request.caller.mode,
    api_version: apiVersion,
    request_id: request.id,
  }));

  server.get('/v1/balance', { schema: schemas.getBalanceOperation }, async request => {
    const balances = await readBalances(deps.reads.byKey, request.caller.partnerId);
    return {
      balance_usdt: formatMicroUsdt(balances[request.caller.mode].availableMicroUsdt),
      currency: 'USDT',
      request_id: request.id,
    };
  });
}
