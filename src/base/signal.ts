/** Something that happens in this process, for the parts of it that subscribed. */
export function createSignal<Value = void>() {
  const listeners: ((value: Value) => void)[] = [];
  return {
    /** Calls the subscribers at once, in the order in which they subscribed. */
    emit: (value: Value) => {
      for (const listener of listeners) listener(value);
    },
    subscribe: (listener: (value: Value) => void) => void listeners.push(listener),
  };
}
