/**
 * How many requests may be on their way to a debit at a time. Past that the next is told at once to come back, since it
 * would only make everybody wait longer: a queue without an end is how a busy service becomes one that answers nobody.
 * Debited payments do not count; they wait for the gateway and cost nothing meanwhile.
 */
export interface Admission {
  isFull(): boolean;
  /** Takes a place; returns how to give it back, which may be done more than once. */
  enter(): () => void;
}

export function createAdmission(most: number): Admission {
  const inside = new Set<symbol>();
  return {
    isFull: () => inside.size >= most,
    enter: () => {
      const place = Symbol();
      inside.add(place);
      return () => void inside.delete(place);
    },
  };
}
