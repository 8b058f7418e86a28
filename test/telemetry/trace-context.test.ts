import { expect, test } from 'vitest';
import { formatTraceparent, parseTraceparent } from '../../src/telemetry/index.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

test.each([
  [`00-${traceId}-${spanId}-01`, true],
  [`00-${traceId}-${spanId}-00`, false],
  [`00-${traceId}-${spanId}-03`, true],
  [`cc-${traceId}-${spanId}-01-what-the-future-brings`, true],
])('%s is read', (header, isSampled) => {
  expect(parseTraceparent(header)).toEqual({ traceId, spanId, isSampled });
});

test.each([
  undefined,
  '',
  `00-${traceId}-${spanId}`,
  `00-${traceId}-${spanId}-1`,
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${spanId}-01\n`,
  `cc-${traceId}-${spanId}-01-${'x'.repeat(300)}`,
])('%j is ignored', header => {
  expect(parseTraceparent(header)).toBeUndefined();
});

test('what is written can be read', () => {
  for (const isSampled of [true, false])
    expect(parseTraceparent(formatTraceparent({ traceId, spanId, isSampled }))).toEqual({
      traceId,
      spanId,
      isSampled,
    });
});
