import { parseId } from '../base/ids.ts';
import { findRequest, type LoggedRequest, type RequestFilter, searchRequests } from '../request-log/index.ts';
import { httpStatus, instant, label, pageSize } from './arguments.ts';
import { type Context, type DatabaseCommand, group } from './command.ts';
import { details, listing, refuse } from './output.ts';
import { find } from './partner.ts';

export const requestCommands = (command: DatabaseCommand) =>
  group('request', 'look up requests to the partner API in the request log', [
    command('show <request>', 'show a request: who sent it, when, and how it was answered', show),
    command('list', 'list requests of all partners, newest first', list)
      .option('--partner <partner>', 'ID or name of a partner', label)
      .option('--status <status>', 'such as 404, or 4xx for all of them', httpStatus)
      .option('--path <path>', 'such as /v1/payments, or /v1/payments/pay_… for one payment', label)
      .option('--error <code>', 'one error code only, such as rate_limited', label)
      .option('--since <time>', 'from this time on, such as 2026-11-15T10:00:00Z', instant)
      .option('--until <time>', 'before this time', instant)
      .option('--limit <count>', 'how many at most, up to 1000', pageSize, 20),
  ]);

interface ListOptions extends Pick<RequestFilter, 'status' | 'since' | 'until'> {
  partner?: string;
  path?: string;
  error?: string;
  limit: number;
}

async function list(context: Context, options: ListOptions) {
  const { partner, path, error: errorCode, limit, ...others } = options;
  const partnerId = partner === undefined ? undefined : (await find(context, partner)).partnerId;
  const filter = { ...others, partnerId, errorCode, path: path?.split('?', 1)[0] };
  const { pool } = context.audit;
  let page = await searchRequests(pool, filter, { limit });
  const found = page.requests;
  // A search stops after some ten thousand requests that do not match, and can be continued.
  while (found.length < limit && page.next) {
    page = await searchRequests(pool, filter, { limit: limit - found.length, after: page.next });
    found.push(...page.requests);
  }
  return listing({ requests: found.map(requestObject) }, 'requests', {
    request: 'request_id',
    'at (UTC)': 'at',
    partner: one => one.partner_name ?? unknown,
    mode: 'mode',
    status: 'status',
    error: 'error_code',
    ms: 'duration_ms',
    path: pathOf,
  });
}

async function show({ audit, settings }: Context, typed: string) {
  const requestId = parseId('req', typed);
  const request = requestId && (await findRequest(audit.pool, requestId));
  if (!request) refuse('no_request', whyMissing(typed, settings.requestLogDays));
  const { partnerId, partnerName, mode, paymentId } = request;
  return {
    json: requestObject(request),
    text: details({
      request: request.requestId,
      'at (UTC)': request.at,
      partner: partnerId === null ? unknown : `${partnerName} (${partnerId}, ${mode})`,
      'key id': request.keyId,
      path: pathOf(request),
      status: request.status,
      error: request.errorCode,
      duration: `${request.durationMs} ms`,
      payment: paymentId,
    }),
  };
}

const whyMissing = (typed: string, days: number) =>
  days === 0
    ? `There is no request ${typed} in the log: the log is turned off (REQUEST_LOG_DAYS=0).`
    : `There is no request ${typed} in the log. Requests are kept for ${days === 1 ? '1 day' : `${days} days`}. IDs look like req_01h…`;

const unknown = 'unknown (key missing, not valid or not checked)';

const pathOf = ({ method, path }: Pick<LoggedRequest, 'method' | 'path'>) =>
  method === null ? 'not valid HTTP' : `${method} ${path}`;

const requestObject = (request: LoggedRequest) => ({
  request_id: request.requestId,
  at: request.at.toISOString(),
  partner_id: request.partnerId,
  partner_name: request.partnerName,
  mode: request.mode,
  key_id: request.keyId,
  method: request.method,
  route: request.route,
  path: request.path,
  payment_id: request.paymentId,
  status: request.status,
  error_code: request.errorCode,
  duration_ms: request.durationMs,
});
