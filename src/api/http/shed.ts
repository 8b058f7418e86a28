import { allErrors } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { networkOf } from '../../operators/index.ts';
import type { ApiDeps } from '../deps.ts';
import type { Shed } from './connections.ts';
import { errorText, jsonType } from './errors.ts';
import { defaultHeaders } from './fastify.ts';
import type { RequestMetrics } from './metrics.ts';

const [method, path] = ['POST', '/v1/payments'];
const [code, retryAfterSec] = ['gateway_busy', 1] as const;
const { status } = allErrors[code];

type ShedDeps = Pick<ApiDeps, 'admission' | 'clock' | 'draining' | 'requestLog'>;

/**
 * Under overload a request for a payment is refused before the framework sees it: what a refusal takes of the CPU, the admitted ones
 * lack. The newest are refused; what has a place keeps it. Nothing else is refused so.
 */
export function createShed(
  { admission, clock, draining, requestLog }: ShedDeps,
  count: RequestMetrics,
): Shed {
  return ({ method: asked, url = '', socket }, response) => {
    if (!admission.isOverloaded() || asked !== method || url.split('?', 1)[0] !== path) return false;
    const requestId = newId('req', clock);
    const body = errorText(code, requestId);
    response
      .writeHead(status, {
        'x-request-id': requestId,
        ...defaultHeaders,
        'retry-after': `${retryAfterSec}`,
        'content-type': jsonType,
        'content-length': `${body.length}`,
        ...(draining?.aborted ? { connection: 'close' } : {}),
      })
      .end(body);
    count(method, path, status, 0, code);
    const network = networkOf(socket.remoteAddress ?? '');
    const refused = { requestId, isAdmitted: false, network, method, route: path, status, errorCode: code };
    requestLog?.record({ ...refused, durationMs: 0 });
    return true;
  };
}
