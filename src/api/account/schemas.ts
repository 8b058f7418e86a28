import Type from 'typebox';
import { apiKeySecurity, responses } from '../http/responses.ts';
import { mode, partnerId, requestId, usdt } from '../shared-schemas.ts';

export const Ping = Type.Object({
  ok: Type.Boolean(),
  partner_id: partnerId,
  mode,
  api_version: Type.String({ examples: ['2026-11-14'] }),
  request_id: requestId,
});

const Balance = Type.Object({
  balance_usdt: usdt('Available balance'),
  currency: Type.Literal('USDT'),
  request_id: requestId,
});

export const pingOperation = {
  operationId: 'ping',
  tags: ['Account'],
  summary: 'Key check',
  security: apiKeySecurity,
  response: responses(Ping, []),
};

export const getBalanceOperation = {
  operationId: 'getBalance',
  tags: ['Account'],
  summary: 'Balance in USDT',
  security: apiKeySecurity,
  response: responses(Balance, []),
};
