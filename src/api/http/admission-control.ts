/** Fewer than this are always checked: a caller over its rate limit gets 429, however busy the service is. */
const maxChecked = 50;

export type Admission = ReturnType<typeof createAdmission>;

/**
 * Backpressure: admission control limits how many requests may be on their way to a debit at a time. The next one gets
 * `gateway_busy` at once, because an unbounded queue only makes every request wait longer until none is answered in
 * time. Debited payments do not count: they wait for the gateway and cost nothing meanwhile.
 */
export function createAdmission(maxBeforeDebit: number) {
  const admitted = new Set<symbol>();
  let checked = 0;
  const isFull = () => admitted.size >= maxBeforeDebit;
  return {
    isFull,
    /** For metrics. */
    places: () => ({ taken: admitted.size, all: maxBeforeDebit }),
    /** Takes a place; returns a function that gives it back and may be called more than once. */
    enter: () => {
      const place = Symbol();
      admitted.add(place);
      return () => void admitted.delete(place);
    },
    /**
     * The next one must be refused before anything is done for it: all places are taken, and so many requests are checked that the
     * checks themselves are overload.
     */
    isOverloaded: () => checked >= maxChecked && isFull(),
    /** Counts a request while its key and its rate limit are checked; returns how to end that. */
    startCheck: () => {
      checked += 1;
      return () => {
        checked -= 1;
      };
    },
  };
}
