import { hostname } from 'node:os';
import { startBackgroundLoop } from '../base/background-loop.ts';
import type { Clock } from '../base/clock.ts';
import { callHttp } from '../http-client/index.ts';
import { encodeSpans, type FinishedSpan, type SpanKind } from './otlp.ts';
import { formatTraceparent, newContext, type TraceContext } from './trace-context.ts';

export interface Span {
  context: TraceContext;
  /** To pass on, as the header `traceparent`. */
  traceparent: string;
  set(attributes: Record<string, string | number>): void;
  /** With an error if it failed. */
  end(error?: string): void;
}

export interface SpanOptions {
  kind?: SpanKind;
  parent?: TraceContext | undefined;
  /** Other spans that this one worked for. */
  links?: TraceContext[];
  attributes?: Record<string, string | number>;
}

export type Tracer = ReturnType<typeof createTracer>;

interface TracerOptions {
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  endpoint: string;
  clock: Clock;
  log: { warn(details: object, message: string): void };
  maxWaiting?: number;
  exportTimeoutMs?: number;
}

const exportIntervalMs = 1_000;
const maxBatch = 512;
const warnIntervalMs = 60_000;
/** A collector answers with an empty object, or with a short reason. */
const maxAnswerBytes = 64 * 1024;

/** Makes spans and sends them to a collector. Nothing waits for it, and nothing fails with it. */
export function createTracer({
  endpoint,
  clock,
  log,
  maxWaiting = 4_096,
  exportTimeoutMs = 5_000,
}: TracerOptions) {
  const url = `${endpoint}/v1/traces`;
  const resource = { 'service.name': 'kopeck', 'host.name': hostname(), 'process.pid': `${process.pid}` };
  const waiting: FinishedSpan[] = [];
  let lost = 0;
  let warnedAtMs = Number.NEGATIVE_INFINITY;

  function countLost(count: number, why: string): void {
    lost += count;
    if (clock.monotonicMs() - warnedAtMs < warnIntervalMs) return;
    warnedAtMs = clock.monotonicMs();
    log.warn({ lost, why }, 'traces are missing: the collector does not take them');
  }

  async function exportBatch(): Promise<void> {
    const batch = waiting.splice(0, maxBatch);
    if (batch.length === 0) return;
    try {
      const { status } = await callHttp({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: encodeSpans(batch, resource),
        clock,
        timeoutMs: exportTimeoutMs,
        maxBytes: maxAnswerBytes,
      });
      if (status < 200 || status > 299) countLost(batch.length, `status ${status}`);
    } catch (error) {
      const { name, code } = error as NodeJS.ErrnoException;
      countLost(batch.length, code ?? name);
    }
  }

  const loop = startBackgroundLoop({
    clock,
    everyMs: exportIntervalMs,
    work: async () => {
      await exportBatch();
      return waiting.length >= maxBatch ? 0 : undefined;
    },
    onError: () => {},
  });

  function keep(span: FinishedSpan): void {
    if (waiting.length >= maxWaiting) return void countLost(1, 'too many are waiting');
    waiting.push(span);
    if (waiting.length === maxBatch) loop.runNow();
  }

  return {
    start: (
      name: string,
      { kind = 'internal', parent, links = [], attributes = {} }: SpanOptions = {},
    ): Span => {
      const context = newContext(parent);
      const startMs = clock.nowMs();
      const startedMs = clock.monotonicMs();
      const all = { ...attributes };
      return {
        context,
        traceparent: formatTraceparent(context),
        set: more => void Object.assign(all, more),
        end: error => {
          if (!context.isSampled) return;
          const durationMs = clock.monotonicMs() - startedMs;
          keep({ name, kind, context, parent, links, startMs, durationMs, attributes: all, error });
        },
      };
    },
    /** Spans that were not exported: the collector was down or too slow. */
    lost: () => lost,
    /** Sends what is left, for a moment. */
    stop: async () => {
      await loop.stop();
      await exportBatch();
    },
  };
}
