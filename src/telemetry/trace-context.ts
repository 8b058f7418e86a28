import { randomBytes } from 'node:crypto';

/** Which span of which trace something belongs to, as the W3C header `traceparent` carries it. */
export interface TraceContext {
  traceId: string;
  spanId: string;
  /** The caller records this trace. If it does not, neither do we, but the ids are passed on. */
  isSampled: boolean;
}

const format = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeros = /^0+$/;

/** Undefined for what the standard says to ignore: anybody can send this header. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  if (text === undefined || text.length > 255) return undefined;
  const [, version, traceId, spanId, flags, more] = format.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  // Later versions may have more fields.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (zeros.test(traceId) || zeros.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

export const formatTraceparent = ({ traceId, spanId, isSampled }: TraceContext) =>
  `00-${traceId}-${spanId}-0${isSampled ? 1 : 0}`;

/** A span in the trace of its parent, or the first of a new trace. */
export const newContext = (parent: TraceContext | undefined): TraceContext => ({
  traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
  spanId: randomBytes(8).toString('hex'),
  isSampled: parent?.isSampled ?? true,
});
