/** A cache of at most `maxEntries` values; the oldest entry is evicted first, however often it was read. */
export interface BoundedCache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

export function createBoundedCache<Value>(maxEntries: number): BoundedCache<Value> {
  const entries = new Map<string, Value>();
  return {
    get: key => entries.get(key),
    set: (key, value) => {
      entries.set(key, value);
      if (entries.size <= maxEntries) return;
      // A map iterates in insertion order, so the first key is the oldest.
      const [oldest] = entries.keys();
      entries.delete(oldest!);
    },
  };
}
