/**
 * Backpressure: admission control limits how many requests may be on their way to a debit at a time. The next one gets
 * `gateway_busy` at once, because an unbounded queue only makes every request wait longer until none is answered in
 * time. Debited payments do not count: they wait for the gateway and cost nothing meanwhile.
 */
export interface Admission {
  isFull(): boolean;
  /** Takes a place; returns a function that gives it back and may be called more than once. */
  enter(): () => void;
}

export function createAdmission(maxBeforeDebit: number): Admission {
  const admitted = new Set<symbol>();
  return {
    isFull: () => admitted.size >= maxBeforeDebit,
    enter: () => {
      const place = Symbol();
      admitted.add(place);
      return () => void admitted.delete(place);
    },
  };
}
