export { type DatabaseGauge, registerDatabaseGauges } from './database-gauges.ts';
export { prometheus } from './prometheus.ts';
export { createSeries } from './series.ts';
export { formatTraceparent, parseTraceparent, type TraceContext } from './trace-context.ts';
export { createTracer, type Span, type SpanOptions, type Tracer } from './tracer.ts';
