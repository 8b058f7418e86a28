import Type from 'typebox';
import * as examples from '../docs/examples.ts';
import { apiKeySecurity, responses } from '../http/responses.ts';
import { mode, partnerId, requestId, usdt } from '../shared-schemas.ts';

export const Ping = Type.Object({
  ok: Type.Boolean({ examples: [true] }),
  partner_id: partnerId,
  mode,
  api_version: Type.String({ examples: ['2026-11-14'] }),
  request_id: requestId,
});

const Balance = Type.Object({
  balance_usdt: usdt('Available balance', '9995.620323'),
  currency: Type.Literal('USDT'),
  request_id: requestId,
});

export const pingOperation = {
  operationId: 'ping',
  tags: ['Account'],
  summary: 'Key check',
  security: apiKeySecurity,
  response: responses(
    { description: 'The key works', schema: Ping, examples: examples.ping },
    [],
    undefined,
    false,
  ),
};

export const getBalanceOperation = {
  operationId: 'getBalance',
  tags: ['Account'],
  summary: 'Balance in USDT',
  security: apiKeySecurity,
  response: responses(
    { description: 'The balance in the mode of the key', schema: Balance, examples: examples.balance },
    [],
  ),
};
