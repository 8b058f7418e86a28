export type BoundedCache<Value> = ReturnType<typeof createBoundedCache<Value>>;

/** A cache of at most `maxEntries` values; the oldest entry is evicted first, however often it was read. */
export function createBoundedCache<Value>(maxEntries: number) {
  const entries = new Map<string, Value>();
  return {
    get: (key: string) => entries.get(key),
    set: (key: string, value: Value) => {
      entries.set(key, value);
      if (entries.size <= maxEntries) return;
      // A map iterates in insertion order, so the first key is the oldest.
      const [oldest] = entries.keys();
      entries.delete(oldest!);
    },
  };
}
