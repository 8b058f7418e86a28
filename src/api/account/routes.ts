import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { formatMicroUsdt } from '../../base/money.ts';
import { readBalances } from '../../ledger/index.ts';
import type { ApiDeps } from '../deps.ts';
import { answered } from '../docs/examples.ts';
import { endpoint, serve } from '../http/endpoint.ts';
import { mode, partnerId, requestId, usdt } from '../shared-schemas.ts';

const apiVersion = '2026-11-14';

const Ping = Type.Object({
  ok: Type.Boolean({ examples: [true] }),
  partner_id: partnerId,
  mode,
  api_version: Type.String({ examples: [apiVersion] }),
  request_id: requestId,
});

export const ping = endpoint({
  route: 'GET /v1/ping',
  operationId: 'ping',
  tag: 'Account',
  summary: 'Key check',
  config: { scope: 'any' },
  answer: {
    description: 'The key works',
    schema: Ping,
    examples: answered('A test key', Ping, 'req_01m7fa8v20e00bjmhfbtbf8s86'),
  },
});

const Balance = Type.Object({
  balance_usdt: usdt('Available balance', '9995.620323'),
  currency: Type.Literal('USDT'),
  request_id: requestId,
});

const getBalance = endpoint({
  route: 'GET /v1/balance',
  operationId: 'getBalance',
  tag: 'Account',
  summary: 'Balance in USDT',
  answer: {
    description: 'The balance in the mode of the key',
    schema: Balance,
    examples: answered('After the three payments', Balance, 'req_01m7fayz28e009028w91rbddcm'),
  },
});

/** The partner of a key, and its balance. */
export function accountRoutes(server: FastifyInstance, deps: ApiDeps): void {
  serve(server, ping, ({ id, caller }) => ({
    ok: true,
    partner_id: caller.partnerId,
    mode: caller.mode,
    api_version: apiVersion,
    request_id: id,
  }));

  serve(server, getBalance, async ({ id, caller }) => {
    const balances = await readBalances(deps.reads.byKey, caller.partnerId);
    return {
      balance_usdt: formatMicroUsdt(balances[caller.mode].availableMicroUsdt),
      currency: 'USDT',
      request_id: id,
    };
  });
}
