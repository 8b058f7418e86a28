/** Something that happens in this process, for the parts of it that subscribed. */
export interface Signal<Value> {
  /** Calls the subscribers at once, in the order in which they subscribed. */
  emit(value: Value): void;
  subscribe(listener: (value: Value) => void): void;
}

export function createSignal<Value = void>(): Signal<Value> {
  const listeners: ((value: Value) => void)[] = [];
  return {
    emit: value => {
      for (const listener of listeners) listener(value);
    },
    subscribe: listener => void listeners.push(listener),
  };
}
