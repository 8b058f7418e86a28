/** Keeps the values that were added last, so many and no more. */
export interface Recent<Value> {
  get(key: string): Value | undefined;
  add(key: string, value: Value): void;
}

export function createRecent<Value>(most: number): Recent<Value> {
  const kept = new Map<string, Value>();
  return {
    get: key => kept.get(key),
    add: (key, value) => {
      kept.set(key, value);
      // A map iterates in the order in which its keys were added.
      for (const oldest of kept.keys()) {
        if (kept.size <= most) return;
        kept.delete(oldest);
      }
    },
  };
}
