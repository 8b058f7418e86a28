/** The number counts from the beginning of the WAL, over all timelines. */
type Segment = ReturnType<typeof parseSegment>;

/** A position in the WAL such as 1/6B374D848. */
export function parseLsn(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

export const formatLsn = (lsn: bigint) =>
  `${(lsn >> 32n).toString(16)}/${(lsn & 0xffff_ffffn).toString(16)}`.toUpperCase();

export const segmentAt = (lsn: bigint, segmentBytes: number) => Number(lsn / BigInt(segmentBytes));

const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0');

const segmentsPerLog = (segmentBytes: number) => 0x1_0000_0000 / segmentBytes;

export function segmentName({ timeline, number }: Segment, segmentBytes: number): string {
  const perLog = segmentsPerLog(segmentBytes);
  return hex(timeline) + hex(Math.floor(number / perLog)) + hex(number % perLog);
}

export const isSegmentName = (name: string) => /^[0-9A-F]{24}$/.test(name);
export const isHistoryName = (name: string) => /^[0-9A-F]{8}\.history$/.test(name);

/** Names of WAL segments: eight hexadecimal digits of the timeline, then sixteen that number the segment. */
export function parseSegment(name: string, segmentBytes: number) {
  const part = (index: number) => Number.parseInt(name.slice(8 * index, 8 * index + 8), 16);
  return { timeline: part(0), number: part(1) * segmentsPerLog(segmentBytes) + part(2) };
}
