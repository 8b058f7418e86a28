import Type from 'typebox';
import { adviceOf, allErrors } from '../base/errors.ts';
import type { ErrorCode } from './errors.ts';

/** Every endpoint can answer with these. */
const everywhere: ErrorCode[] = [
  'unauthorized',
  'partner_suspended',
  'ip_not_allowed',
  'rate_limited',
  'internal_error',
  'gateway_unavailable',
];

const exampleRequestId = 'req_01m7ehqr39e00aq7xw60wbe32j';

function exampleOf(code: ErrorCode) {
  const extra =
    code === 'insufficient_balance' ? { required_usdt: '1.081082', balance_usdt: '0.500000' } : {};
  const { message } = allErrors[code];
  const error = { code, message, request_id: exampleRequestId, ...adviceOf(code), ...extra };
  return { summary: message, value: { error } };
}

const validationExample = {
  summary: 'The request is malformed',
  value: { detail: [{ loc: ['body', 'amount_rub'], msg: 'Field required', type: 'missing' }] },
};

/** The responses of an endpoint: its own shape, and by status every error it may answer with, with an example each. */
export function responses(success: Type.TSchema, codes: ErrorCode[]) {
  const byStatus = Map.groupBy(new Set([...codes, ...everywhere]), code => allErrors[code].status);
  const entries = Array.from(byStatus, ([status, group]) => [status, errorResponse(status, group)] as const);
  if (!byStatus.has(422)) entries.push([422, errorResponse(422, [])]);
  return { 200: success, ...Object.fromEntries(entries) };
}

function errorResponse(status: number, codes: ErrorCode[]) {
  const examples: Record<string, unknown> = Object.fromEntries(codes.map(code => [code, exampleOf(code)]));
  const malformed = status === 422;
  const shapes = [
    ...(codes.length > 0 ? [Type.Ref('Error')] : []),
    ...(malformed ? [Type.Ref('ValidationError')] : []),
  ];
  if (malformed) examples.malformed = validationExample;
  return {
    description: [...codes.map(code => `\`${code}\``), ...(malformed ? ['malformed request'] : [])].join(
      ', ',
    ),
    content: {
      'application/json': { schema: shapes.length === 1 ? shapes[0] : Type.Union(shapes), examples },
    },
  };
}
