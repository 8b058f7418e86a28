import type { FastifyInstance } from 'fastify';
import { formatMicroUsdt } from '../base/money.ts';
import { readBalances } from '../ledger/index.ts';
import type { ApiDeps } from './deps.ts';
import { responses } from './responses.ts';
import * as schemas from './schemas.ts';

const apiVersion = '2026-11-14';
const security = [{ apiKey: [] }];

/** Who a key belongs to, and what can be spent with it. */
export function accountRoutes(server: FastifyInstance, deps: ApiDeps): void {
  server.get(
    '/v1/ping',
    {
      schema: {
        operationId: 'ping',
        tags: ['Account'],
        summary: 'Key check',
        security,
        response: responses(schemas.Ping, []),
      },
    },
    request => ({
      ok: true,
      partner_id: request.caller.partnerId,
      mode: request.caller.mode,
      api_version: apiVersion,
      request_id: request.id,
    }),
  );

  server.get(
    '/v1/balance',
    {
      schema: {
        operationId: 'getBalance',
        tags: ['Account'],
        summary: 'Balance in USDT',
        security,
        response: responses(schemas.Balance, []),
      },
    },
    async request => {
      const balances = await readBalances(deps.db, request.caller.partnerId);
      return {
        balance_usdt: formatMicroUsdt(balances[request.caller.mode].availableMicroUsdt),
        currency: 'USDT',
        request_id: request.id,
      };
    },
  );
}
