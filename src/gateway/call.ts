import type { Clock } from '../base/clock.ts';
import type { Id } from '../base/ids.ts';
import type { TraceContext, Tracer } from '../telemetry/index.ts';
import type { Answer } from './answers.ts';
import { describeError } from './transport.ts';

/** One call to the gateway as it is logged: the bodies and how the answer was understood, never a header. */
export interface GatewayCall {
  call: 'resolve' | 'pay' | 'poll' | 'void';
  /** A QR code is resolved before there is a payment. */
  paymentId: Id<'pay'> | undefined;
  /** Set for calls that carry it: when the code is paid, the log finds the call that resolved it. */
  qrUrl: string | undefined;
  startedAtMs: number;
  durationMs: number;
  status: number | null;
  outcome: string;
  request: string | null;
  response: string | null;
  error: string | null;
}

export interface CallDeps {
  clock: Clock;
  token: string | undefined;
  /** Called after each call about a QR code or an order; must not block. */
  onCall: ((call: GatewayCall) => void) | undefined;
  /** Undefined: nothing is traced. */
  tracer?: Tracer | undefined;
}

interface CallSpec<Result> extends Pick<GatewayCall, 'call' | 'paymentId' | 'qrUrl'> {
  body?: object;
  trace?: TraceContext | undefined;
  send(traceparent?: string): Promise<Answer>;
  read(answer: Answer): Result;
  /** What it means that the call broke. */
  readError(error: unknown): Result;
}

/** Makes a call, reads its answer or its error, and reports the call. */
export async function callGateway<Result extends { outcome: string }>(
  { clock, token, onCall, tracer }: CallDeps,
  { call, paymentId, qrUrl, body, trace, send, read, readError }: CallSpec<Result>,
): Promise<Result> {
  const startedAtMs = clock.nowMs();
  const started = clock.monotonicMs();
  const span = trace && tracer?.start(`gateway ${call}`, { kind: 'client', parent: trace });
  let answer: Answer | undefined;
  let error: string | null = null;
  let result: Result;
  try {
    answer = await send(span?.traceparent);
    result = read(answer);
  } catch (thrown) {
    error = describeError(thrown);
    result = readError(thrown);
  }
  span?.set({ 'kopeck.outcome': result.outcome, 'http.response.status_code': answer?.status ?? 0 });
  span?.end(error ?? undefined);
  onCall?.({
    call,
    paymentId,
    qrUrl,
    startedAtMs,
    durationMs: Math.round(clock.monotonicMs() - started),
    status: answer?.status ?? null,
    outcome: result.outcome,
    request: body ? storable(JSON.stringify(body), token) : null,
    response: answer ? storable(answer.text, token) : null,
    error,
  });
  return result;
}

const maxBytes = 4096;

/** Sealed, so nobody can read it in the log, where it would take more space than all the rest. */
const withoutReference = (text: string) =>
  text.replace(/"reference"\s*:\s*"[\w-]*"/g, found =>
    found.length < 100 ? found : '"reference":"[sealed]"',
  );

/**
 * A body that may be stored: without the token, in case the gateway repeats it; without NUL, which PostgreSQL does not
 * store; without the order's reference; and not longer than 4 KiB. In this order, so that the cut cannot leave half of a
 * token behind.
 */
export function storable(text: string, token: string | undefined): string {
  const withoutToken = token ? text.replaceAll(token, '[token]') : text;
  const clean = withoutReference(withoutToken.replaceAll('\0', ''));
  if (clean.length * 3 <= maxBytes) return clean;
  const bytes = Buffer.from(clean);
  if (bytes.length <= maxBytes) return clean;
  // A character that was cut in two is left out.
  return `${bytes
    .subarray(0, maxBytes)
    .toString()
    .replace(/\uFFFD$/, '')}…`;
}
