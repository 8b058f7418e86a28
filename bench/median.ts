/** The lower of the two middle values if their number is even; 0 without any. */
export const median = (values: number[]): number =>
  Float64Array.from(values).sort()[(values.length - 1) >> 1] ?? 0;
