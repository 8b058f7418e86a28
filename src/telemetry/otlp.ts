import type { TraceContext } from './trace-context.ts';

/** A span as it is exported: what was done, when, and for whom. Never a header, a body or a secret. */
export interface FinishedSpan {
  name: string;
  kind: SpanKind;
  context: TraceContext;
  parent: TraceContext | undefined;
  links: TraceContext[];
  startMs: number;
  durationMs: number;
  attributes: Record<string, string | number>;
  error: string | undefined;
}

export type SpanKind = keyof typeof kinds;

const kinds = { internal: 1, server: 2, client: 3 };

/**
 * A batch of spans in OTLP's JSON encoding. By hand: the packages of OpenTelemetry for this would be fifteen more to trust,
 * for one message of which we need a dozen fields.
 */
export const encodeSpans = (spans: FinishedSpan[], resource: Record<string, string>) =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: encodeAttributes(resource) },
        scopeSpans: [{ scope: { name: 'kopeck' }, spans: spans.map(encodeSpan) }],
      },
    ],
  });

const encodeSpan = (span: FinishedSpan) => ({
  traceId: span.context.traceId,
  spanId: span.context.spanId,
  ...(span.parent ? { parentSpanId: span.parent.spanId } : {}),
  name: span.name,
  kind: kinds[span.kind],
  startTimeUnixNano: nanoseconds(span.startMs),
  endTimeUnixNano: nanoseconds(span.startMs + span.durationMs),
  attributes: encodeAttributes(span.attributes),
  links: span.links.map(({ traceId, spanId }) => ({ traceId, spanId })),
  status: span.error === undefined ? {} : { code: 2, message: span.error },
});

/** As a string: the number is too large for JSON. */
const nanoseconds = (ms: number) => `${BigInt(Math.round(ms * 1_000)) * 1_000n}`;

const encodeAttributes = (attributes: Record<string, string | number>) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { doubleValue: value },
  }));
